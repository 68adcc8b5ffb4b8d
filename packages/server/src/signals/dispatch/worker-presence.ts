/*
 * Which processes deliver, and what those that died had claimed. Every worker holds an advisory lock
 * on the connection on which it listens; the lock ends with the process, however it ends. Its claims can thus
 * be released within about two seconds instead of at the end of their lease. The lease stays for workers that
 * live and are cut off.
 */
import type { Kysely } from 'kysely'
import { SECOND_MS } from '../../platform/clock.ts'
import type { Listener } from '../../platform/db/listener.ts'
import { randomInteger } from '../../platform/ids.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import {
  deleteWorker,
  insertWorker,
  newWorkerClaimId,
  releaseWorker,
  surveyWorkers,
  toWorkerLock,
} from './worker-store.ts'

export interface WorkerPresence {
  /** A new claim of this worker: a UUID that tells whose it is. */
  newClaimId(): string
  /** Says that this worker is there. Before the first claim. */
  start(): Promise<void>
  /**
   * Releases what workers had claimed that have been missing for `MISSING_MS`; answers the destinations
   * whose deliveries are free now. Any number of workers may do it at the same time.
   */
  releaseDead(): Promise<DestinationId[]>
  /**
   * Whether this worker is the one of those that live that claims first for the destination. Two may take themselves
   * for it, or none, for as long as one of them does not know that another has come or gone.
   */
  isFirstFor(destinationId: DestinationId): boolean
  /** Says that this worker has released everything itself. */
  close(): Promise<void>
}

export interface WorkerPresenceDependencies {
  readonly db: Kysely<Schema>
  readonly listener: Pick<Listener, 'holdLock'>
}

/** Longer than a listener takes to reconnect after a short break; its worker is not dead then. */
const MISSING_MS = 1.5 * SECOND_MS
const WORKER_ID_MAX = 2 ** 31 - 1

export function createWorkerPresence({ db, listener }: WorkerPresenceDependencies): WorkerPresence {
  const id = randomInteger(1, WORKER_ID_MAX)
  let knownIds: readonly number[] = [id]
  return {
    newClaimId: () => newWorkerClaimId(id),
    async start() {
      await listener.holdLock(toWorkerLock(id))
      await insertWorker(db, id)
    },
    async releaseDead() {
      const { deadIds, livingIds, isRegistered } = await surveyWorkers(db, id, MISSING_MS)
      knownIds = livingIds
      // Another worker took this one for dead, while its connection was broken.
      if (!isRegistered) await insertWorker(db, id)
      const destinationIds = new Set<DestinationId>()
      for (const deadId of deadIds) {
        for (const freed of await releaseWorker(db, deadId)) destinationIds.add(freed)
      }
      return [...destinationIds]
    },
    isFirstFor(destinationId) {
      const place = BigInt(destinationId) % BigInt(Math.max(1, knownIds.length))
      return knownIds.length < 2 || knownIds[Number(place)] === id
    },
    close: () => deleteWorker(db, id),
  }
}
