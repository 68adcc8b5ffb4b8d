/*
 * Devices whose owner may come at any time to fix something: those that were evaluated and are not Good. The agent
 * intake has them come back sooner, so that whoever says that it is fixed does not wait for the device.
 */
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Change } from '../../changes/change.ts'
import type { LockedDevice } from './device-status-store.ts'

/** The channel that tells the agent intakes which devices have issues from now on, and which have none any more. */
export const DEVICE_ISSUES_CHANNEL = 'device_issues'

const DEVICES_PER_NOTIFICATION = 200

/** Whether a device has issues. Before it is evaluated it is Blocked, and there is nothing to fix. */
export function hasIssues({ authState, evaluatedAt }: DeviceStatus): boolean {
  return evaluatedAt !== null && authState !== 'Good'
}

/** The same of the device `d`. */
export const HAS_ISSUES: RawBuilder<SqlBool> = sql`(d.evaluated_at is not null and d.auth_state <> 'Good')`

type DeviceStatus = Pick<LockedDevice, 'id' | 'authState' | 'evaluatedAt'>

/**
 * Tells the intakes of all processes, after the commit, of devices whose issues have begun or ended. One that is not
 * told has the device come back later, until it looks it up again.
 */
export function tellDeviceIssues(
  change: Pick<Change, 'tellAfterCommit'>,
  changes: readonly { readonly before: DeviceStatus; readonly after: DeviceStatus }[],
): void {
  const changed = changes.filter(({ before, after }) => hasIssues(before) !== hasIssues(after))
  for (const isBeginning of [true, false]) {
    const ids = changed.flatMap(({ after }) => (hasIssues(after) === isBeginning ? [after.id] : []))
    for (let start = 0; start < ids.length; start += DEVICES_PER_NOTIFICATION) {
      const some = ids.slice(start, start + DEVICES_PER_NOTIFICATION)
      change.tellAfterCommit(DEVICE_ISSUES_CHANNEL, [isBeginning ? '+' : '-', ...some].join(' '))
    }
  }
}

/** Reads what `tellDeviceIssues` tells. */
export function parseDeviceIssues(payload: string): {
  readonly hasIssues: boolean
  readonly deviceIds: readonly string[]
} {
  const [sign, ...deviceIds] = payload.split(' ')
  return { hasIssues: sign === '+', deviceIds }
}
