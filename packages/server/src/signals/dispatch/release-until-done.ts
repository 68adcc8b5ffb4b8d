import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { releaseClaims } from './release-store.ts'
import type { ClaimedDelivery } from './delivery-channel.ts'
import type { DeliveryLog } from './delivery-log.ts'

/** When to try again, and for how long. */
interface ReleaseRepetition {
  readonly db: Kysely<Schema>
  readonly log: Pick<DeliveryLog, 'warn'>
  readonly pauseMs: number
  readonly isStopped: () => boolean
}

/**
 * Gives claimed deliveries of one destination back, due after `delayMs`; again and again while the database is away,
 * until their leases have brought them back. Never rejects.
 */
export async function releaseUntilDone(
  deliveries: readonly ClaimedDelivery[],
  delayMs: number,
  { db, log, pauseMs, isStopped }: ReleaseRepetition,
): Promise<void> {
  const leaseEndsMs = Math.max(...deliveries.map((delivery) => delivery.leaseEndsMs))
  for (;;) {
    try {
      await releaseClaims(db, deliveries, delayMs)
      return
    } catch (error) {
      const fields = { err: error, destination_id: deliveries[0]?.destinationId }
      log.warn(fields, 'deliveries could not be given back')
      if (isStopped() || performance.now() > leaseEndsMs) return
      await sleep(pauseMs)
    }
  }
}
