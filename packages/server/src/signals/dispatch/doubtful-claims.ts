/*
 * Claims whose statement was cut off before its answer came: it may have claimed nothing, something, or claim it
 * only later, when the server comes to it. Without these, such deliveries would wait for the end of their lease.
 * Also says once why nothing can be claimed, however often that is tried.
 */
import type { Kysely } from 'kysely'
import { SECOND_MS } from '../../platform/clock.ts'
import { errorCodeOf } from '../../platform/error-code-of.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import type { DeliveryLog } from './delivery-log.ts'
import { releaseClaimsOf } from './release-store.ts'

/** The server ends a statement, or misses its client, within this time. */
const LATE_CLAIM_MS = 45 * SECOND_MS
/** How soon to look again for a claim that may come late. */
export const DOUBT_INTERVAL_MS = 5 * SECOND_MS

export class DoubtfulClaims {
  readonly #destinationId: DestinationId
  /** By claim, when it came into doubt, on the steady clock of `performance.now()`. */
  readonly #since = new Map<string, number>()

  /** What rounds fail with; undefined when the last one did not. */
  #failing: string | undefined

  constructor(destinationId: DestinationId) {
    this.#destinationId = destinationId
  }

  get isEmpty(): boolean {
    return this.#since.size === 0
  }

  add(claimId: string): void {
    this.#since.set(claimId, performance.now())
  }

  /** What a claim ends with whose statement fails: it is in doubt, and the error goes on. */
  onFailure(claimId: string): (error: unknown) => never {
    return (error) => {
      this.add(claimId)
      throw error
    }
  }

  /** A round of claims has failed: logged once until one has not, or fails with something else. */
  logFailing(error: unknown, log: Pick<DeliveryLog, 'warn'>): void {
    const about = { err: error, destination_id: this.#destinationId }
    const failing = errorCodeOf(error) || (error instanceof Error ? error.name : '')
    if (failing !== this.#failing) log.warn(about, 'deliveries not claimed')
    this.#failing = failing
  }

  endFailing(): void {
    this.#failing = undefined
  }

  /** Releases what they claimed. Nothing of them may be under way. */
  async release(db: Kysely<Schema>): Promise<void> {
    if (this.isEmpty) return
    const nowMs = performance.now()
    const claims = [...this.#since]
    await releaseClaimsOf(
      db,
      this.#destinationId,
      claims.map(([claimId]) => claimId),
    )
    for (const [claimId, sinceMs] of claims) {
      if (nowMs - sinceMs > LATE_CLAIM_MS) this.#since.delete(claimId)
    }
  }
}
