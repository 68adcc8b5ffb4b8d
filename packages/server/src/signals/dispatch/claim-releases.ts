/*
 * Gives claimed deliveries back to the database, for all dispatchers of a process: what is given back at the same time,
 * as when a target has changed or the connection that listens was away, goes by one statement for each delay. Owns the
 * gathering and the repetition when the database is away; what may be claimed meanwhile is the dispatchers' to say.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { SECOND_MS } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import type { ClaimedDelivery } from './delivery-channel.ts'
import type { DeliveryLog } from './delivery-log.ts'
import { releaseClaims } from './release-store.ts'

interface ClaimReleasesDependencies {
  readonly db: Kysely<Schema>
  readonly log: Pick<DeliveryLog, 'warn'>
}

/** What is given back by the next statement of its delay. */
interface Gathered {
  readonly deliveries: ClaimedDelivery[]
  readonly released: Promise<void>
}

const REPEAT_DELAY_MS = SECOND_MS

export class ClaimReleases {
  readonly #dependencies: ClaimReleasesDependencies
  readonly #gathered = new Map<number, Gathered>()
  #isStopped = false

  constructor(dependencies: ClaimReleasesDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Gives deliveries back, due after `delayMs`; again and again while the database is away, until their leases have
   * brought them back. Never rejects.
   */
  release(deliveries: readonly ClaimedDelivery[], delayMs: number): Promise<void> {
    const wholeMs = Math.ceil(delayMs)
    const gathered = this.#gathered.get(wholeMs)
    if (gathered !== undefined) {
      gathered.deliveries.push(...deliveries)
      return gathered.released
    }
    const all = [...deliveries]
    const released = this.#releaseTogether(all, wholeMs)
    this.#gathered.set(wholeMs, { deliveries: all, released })
    return released
  }

  /** From now on what fails is not repeated. */
  stop(): void {
    this.#isStopped = true
  }

  async #releaseTogether(deliveries: readonly ClaimedDelivery[], delayMs: number): Promise<void> {
    const { db, log } = this.#dependencies
    await nextTurn()
    this.#gathered.delete(delayMs)
    const leaseEndsMs = Math.max(...deliveries.map((delivery) => delivery.leaseEndsMs))
    for (;;) {
      try {
        await releaseClaims(db, deliveries, delayMs)
        return
      } catch (error) {
        const fields = { err: error, delivery_count: deliveries.length }
        log.warn(fields, 'deliveries could not be given back')
        if (this.#isStopped || performance.now() > leaseEndsMs) return
        await sleep(REPEAT_DELAY_MS)
      }
    }
  }
}
