import type { Change } from '../../changes/change.ts'
import type { Platform } from '../../schema/tables/device-tables.ts'
import type { AuthState, Compliance, InitiatingEntity } from '../../schema/status-values.ts'
import type { LockedDevice } from './device-status-store.ts'

/** The two words that a device's status consists of. */
export interface DeviceStatus {
  readonly authState: AuthState
  readonly compliance: Compliance
}

/** An open issue that counts for the status of a device. */
export interface StatusReason {
  readonly issueId: string
  readonly issueTitle: string
  readonly checkId: string
  readonly checkSlug: string
  readonly checkName: string
  readonly blocksDeviceAt: Date | null
}

/** A change of a device's status that has just been made in the open change. */
export interface DeviceStatusChange {
  readonly device: {
    readonly id: string
    readonly name: string
    readonly platform: Platform
    /** Null when nobody owns the device. */
    readonly owner: { readonly personId: string; readonly email: string } | null
  }
  readonly previous: DeviceStatus
  readonly current: DeviceStatus
  /** When the status changed: for a grace period its exact end, not when it was noticed. */
  readonly occurredAt: Date
  readonly initiatingEntity: InitiatingEntity
  /** The open issues that decide the present status, worst first; empty when the device is Good. */
  readonly reasons: readonly StatusReason[]
}

/** What a change tells of its device. */
export function toDeviceOfChange({
  id,
  name,
  platform,
  ownerPersonId: personId,
  ownerEmail: email,
}: Pick<
  LockedDevice,
  'id' | 'name' | 'platform' | 'ownerPersonId' | 'ownerEmail'
>): DeviceStatusChange['device'] {
  const owner = personId === null || email === null ? null : { personId, email }
  return { id, name, platform, owner }
}

/**
 * Reacts to changed statuses inside the same transaction: outgoing events are queued here. Called with
 * every change of `authState`, those of a batch of devices together and each device at most once;
 * `compliance` may be the same word before and after.
 */
export type OnDeviceStatusChanged = (
  change: Change,
  statusChanges: readonly DeviceStatusChange[],
) => Promise<void>
