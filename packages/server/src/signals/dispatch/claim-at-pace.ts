import type { ClaimedDelivery, DeliveryPace } from './delivery-channel.ts'

/** What to claim at most, when, and for which destination. */
export interface PacedClaim {
  readonly destinationId: string
  readonly wanted: number
  readonly now: Date
}

/** What was claimed. */
export interface PacedDeliveries {
  readonly deliveries: readonly ClaimedDelivery[]
  /** How long the pace allows nothing; undefined when it is not what stood in the way. */
  readonly waitMs: number | undefined
}

/** Claims as many deliveries as the pace of their destination allows, and uses up no more of it. */
export async function claimAtPace(
  pace: DeliveryPace | undefined,
  { destinationId, wanted, now }: PacedClaim,
  claim: (limit: number) => Promise<readonly ClaimedDelivery[]>,
): Promise<PacedDeliveries> {
  if (pace === undefined) return { deliveries: await claim(wanted), waitMs: undefined }
  const { granted, nextAt } = await pace.take(destinationId, wanted, now)
  if (granted === 0) {
    return { deliveries: [], waitMs: Math.max(1, nextAt.getTime() - now.getTime()) }
  }
  const deliveries = await claim(granted)
  const spared = granted - deliveries.length
  if (spared > 0) await pace.giveBack(destinationId, spared)
  return { deliveries, waitMs: undefined }
}
