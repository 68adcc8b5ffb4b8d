/*
 * Gives claimed deliveries back to the database, for all dispatchers of a process: what is given back at the same time,
 * as when a target has changed or the connection that listens was away, goes by one statement for each delay. Owns the
 * gathering and the repetition when the database is away; what may be claimed meanwhile is the dispatchers' to say.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { SECOND_MS } from '../../platform/clock.ts'
import { isAboutContents } from '../../platform/db/database-fault.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import type { ClaimedDelivery } from './delivery-channel.ts'
import type { DeliveryLog } from './delivery-log.ts'
import { BRIEF_WAIT, FIRST_WAIT } from './lock-waits.ts'
import { releaseClaims } from './release-store.ts'

interface ClaimReleasesDependencies {
  readonly db: Kysely<Schema>
  readonly log: Pick<DeliveryLog, 'warn'>
}

/** What one destination gives back by the next statement of its delay. */
interface Part {
  readonly destinationId: DestinationId
  readonly deliveries: ClaimedDelivery[]
  readonly released: PromiseWithResolvers<void>
}

const REPEAT_DELAY_MS = SECOND_MS
/** So many destinations a line of the log names. */
const NAMED_MAX = 10

export class ClaimReleases {
  readonly #dependencies: ClaimReleasesDependencies
  readonly #gathered = new Map<number, Map<DestinationId, Part>>()
  #isStopped = false

  constructor(dependencies: ClaimReleasesDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Gives deliveries of a destination back, due after `delayMs`; again and again while the database is away, until
   * their leases have brought them back. Never rejects.
   */
  release(
    destinationId: DestinationId,
    deliveries: readonly ClaimedDelivery[],
    delayMs: number,
  ): Promise<void> {
    const parts = this.#partsOf(Math.ceil(delayMs))
    const part = parts.get(destinationId) ?? {
      destinationId,
      deliveries: [],
      released: Promise.withResolvers<void>(),
    }
    parts.set(destinationId, part)
    part.deliveries.push(...deliveries)
    return part.released.promise
  }

  /** From now on what fails is not repeated. */
  stop(): void {
    this.#isStopped = true
  }

  #partsOf(delayMs: number): Map<DestinationId, Part> {
    const gathered = this.#gathered.get(delayMs)
    if (gathered !== undefined) return gathered
    const parts = new Map<DestinationId, Part>()
    this.#gathered.set(delayMs, parts)
    void this.#releaseNextTurn(parts, delayMs)
    return parts
  }

  async #releaseNextTurn(parts: ReadonlyMap<DestinationId, Part>, delayMs: number): Promise<void> {
    await nextTurn()
    this.#gathered.delete(delayMs)
    await this.#releaseUntilDone([...parts.values()], delayMs)
  }

  /** What somebody has locked, or the database refuses, is found by halves, so that the other destinations go on. */
  async #releaseUntilDone(parts: readonly Part[], delayMs: number): Promise<void> {
    const { db, log } = this.#dependencies
    const deliveries = parts.flatMap((part) => part.deliveries)
    const leaseEndsMs = deliveries.reduce((latest, one) => Math.max(latest, one.leaseEndsMs), 0)
    for (;;) {
      try {
        const bounds = this.#isStopped ? BRIEF_WAIT : FIRST_WAIT
        await releaseClaims(db, deliveries, { delayMs, bounds })
        break
      } catch (error) {
        const fields = {
          err: error,
          destination_ids: parts.slice(0, NAMED_MAX).map(({ destinationId }) => destinationId),
          delivery_count: deliveries.length,
        }
        log.warn(fields, 'deliveries could not be given back')
        if (parts.length > 1 && isAboutContents(error)) {
          const middle = Math.ceil(parts.length / 2)
          const halves = [parts.slice(0, middle), parts.slice(middle)]
          await Promise.all(halves.map((half) => this.#releaseUntilDone(half, delayMs)))
          return
        }
        if (this.#isStopped || performance.now() > leaseEndsMs) break
        await new Promise((resolve) => setTimeout(resolve, REPEAT_DELAY_MS))
      }
    }
    for (const { released } of parts) released.resolve()
  }
}
