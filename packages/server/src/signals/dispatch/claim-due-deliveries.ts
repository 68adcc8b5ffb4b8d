import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { claimDeliveries, type ClaimRequest } from './claim-store.ts'
import type { ClaimedDelivery, DeliveryChannel } from './delivery-channel.ts'

/** What was claimed. */
export interface DueDeliveries {
  readonly deliveries: readonly ClaimedDelivery[]
  /** How long the pace of the destination allows nothing; undefined when that did not stand in the way. */
  readonly waitMs: number | undefined
}

/** Claims as many due deliveries as the pace of their destination allows, and uses up no more of it. */
export async function claimDueDeliveries(
  db: Kysely<Schema>,
  channel: Pick<DeliveryChannel, 'pace' | 'claimKid'>,
  request: Omit<ClaimRequest, 'kid'>,
): Promise<DueDeliveries> {
  const { destinationId, limit } = request
  const { pace } = channel
  const kid = channel.claimKid(destinationId)
  if (pace === undefined) {
    return { deliveries: await claimDeliveries(db, { ...request, kid }), waitMs: undefined }
  }
  const { granted, waitMs } = await pace.take(destinationId, limit)
  if (granted === 0) return { deliveries: [], waitMs: Math.max(1, waitMs) }
  const deliveries = await claimDeliveries(db, { ...request, kid, limit: granted })
  const spared = granted - deliveries.length
  if (spared > 0) await pace.giveBack(destinationId, spared)
  return { deliveries, waitMs: undefined }
}
