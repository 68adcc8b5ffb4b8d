import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { ClaimShares } from './active-claims.ts'
import type { AttemptDependencies } from './attempt-delivery.ts'
import type { BackgroundWork } from './background-work.ts'
import type { ClaimReleases } from './claim-releases.ts'
import type { DeliveryChannel, DestinationKind } from './delivery-channel.ts'
import type { DeliveryEnd } from './delivery-end.ts'
import type { DeliverySettings } from './delivery-settings.ts'
import type { InFlightSlots } from './in-flight-slots.ts'
import type { OutcomeRecorder } from './outcome-recorder.ts'

/** What all dispatchers of a process share. */
export interface DispatcherDependencies extends AttemptDependencies {
  readonly db: Kysely<Schema>
  readonly channels: ReadonlyMap<DestinationKind, DeliveryChannel>
  readonly settings: DeliverySettings
  readonly slots: InFlightSlots
  readonly claimShares: ClaimShares
  readonly releases: ClaimReleases
  /** Those that are in flight, of all dispatchers. */
  readonly attempts: BackgroundWork
  readonly recorder: OutcomeRecorder
  readonly deliveryEnd: Pick<DeliveryEnd, 'id'>
  /** A new UUID for a claim. */
  readonly newClaimId: () => string
  /** Breaks off what is in flight when the service can wait no longer. */
  readonly signal: AbortSignal
}
