/*
 * Which processes deliver, and what those that died had claimed. Every worker holds an advisory lock
 * on the connection on which it listens; the lock ends with the process, however it ends. Claims begin
 * with the number of their worker, so that they can be given back within seconds instead of at the end
 * of their lease. The lease stays for workers that live and are cut off.
 */
import { sql, type Kysely } from 'kysely'
import { SECOND_MS, type Clock } from '../../platform/clock.ts'
import {
  tryLockInTransaction,
  tryLockSql,
  type AdvisoryLock,
} from '../../platform/db/advisory-lock.ts'
import type { Listener } from '../../platform/db/listener.ts'
import { LOCK_CLASSES } from '../../schema/lock-keys.ts'
import type { Schema } from '../../schema/schema.ts'
import { newUuid, randomInteger } from '../../platform/ids.ts'
import { notifyDestinations } from './enqueue-deliveries.ts'

export interface WorkerPresence {
  /** A new claim of this worker: a UUID that tells whose it is. */
  newClaimId(): string
  /** Says that this worker is there. Before the first claim. */
  start(): Promise<void>
  /**
   * Gives back what workers had claimed that have been gone for `MISSING_MS`; answers the destinations
   * whose deliveries are free now. Any number of workers may do it at the same time.
   */
  releaseDead(): Promise<string[]>
  /** Says that this worker has given back everything itself. */
  close(): Promise<void>
}

export interface WorkerPresenceDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly listener: Pick<Listener, 'holdLock'>
}

/** Longer than a listener takes to reconnect after a short break; its worker is not dead then. */
const MISSING_MS = 1.5 * SECOND_MS
const WORKER_ID_MAX = 2 ** 31 - 1
const ID_DIGITS = 8

export function createWorkerPresence(dependencies: WorkerPresenceDependencies): WorkerPresence {
  const { db, clock, listener } = dependencies
  const id = randomInteger(1, WORKER_ID_MAX)
  const prefix = toPrefix(id)
  return {
    newClaimId: () => prefix + newUuid().slice(ID_DIGITS),
    async start() {
      await listener.holdLock(toLock(id))
      await insertWorker(db, id, clock.now())
    },
    async releaseDead() {
      const now = clock.now()
      const { gone, isRegistered } = await observeWorkers(db, id, now)
      // Another worker took this one for dead, while its connection was broken.
      if (!isRegistered) await insertWorker(db, id, now)
      const destinationIds = new Set<string>()
      for (const worker of gone) {
        for (const freed of await releaseWorker(db, worker)) destinationIds.add(freed)
      }
      return [...destinationIds]
    },
    async close() {
      await db.deleteFrom('delivery_worker').where('id', '=', id).execute()
    },
  }
}

function toLock(workerId: number): AdvisoryLock {
  return [LOCK_CLASSES.deliveryWorkers, workerId]
}

function toPrefix(workerId: number): string {
  return workerId.toString(16).padStart(ID_DIGITS, '0')
}

async function insertWorker(db: Kysely<Schema>, id: number, now: Date): Promise<void> {
  await db
    .insertInto('delivery_worker')
    .values({ id, started_at: now, missing_since: null })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

interface Observation {
  readonly gone: readonly number[]
  readonly isRegistered: boolean
}

/** Looks which locks are free. One statement, which holds them until it ends and no longer. */
async function observeWorkers(db: Kysely<Schema>, ownId: number, now: Date): Promise<Observation> {
  const { rows } = await sql<{ id: number; missing_since: Date | null; is_free: boolean }>`
    select id, missing_since,
      case when id = ${ownId} then false else ${tryLockSql([LOCK_CLASSES.deliveryWorkers, sql.ref('id')])} end
        as is_free
    from delivery_worker`.execute(db)
  const changed = rows.filter((worker) => worker.is_free === (worker.missing_since === null))
  for (const worker of changed) {
    await db
      .updateTable('delivery_worker')
      .set({ missing_since: worker.is_free ? now : null })
      .where('id', '=', worker.id)
      .execute()
  }
  const gone = rows.filter(
    ({ is_free, missing_since }) =>
      is_free &&
      missing_since !== null &&
      // A clock that was set back must not keep a dead worker alive.
      Math.abs(now.getTime() - missing_since.getTime()) >= MISSING_MS,
  )
  return { gone: gone.map(({ id }) => id), isRegistered: rows.some(({ id }) => id === ownId) }
}

/** Reads everything that is queued, which takes a moment with a million deliveries; workers die rarely. */
async function releaseWorker(db: Kysely<Schema>, id: number): Promise<string[]> {
  return db.transaction().execute(async (tx) => {
    if (!(await tryLockInTransaction(tx, toLock(id)))) return []
    const prefix = toPrefix(id)
    const { rows } = await sql<{ destination_id: string }>`
      with released as (
        update delivery set claimed_by = null, claim_expires_at = null
        where state = 'queued'
          and claimed_by between ${`${prefix}-0000-0000-0000-000000000000`}::uuid
            and ${`${prefix}-ffff-ffff-ffff-ffffffffffff`}::uuid
        returning destination_id
      )
      select distinct destination_id from released`.execute(tx)
    await tx.deleteFrom('delivery_worker').where('id', '=', id).execute()
    const destinationIds = rows.map(({ destination_id }) => destination_id)
    await notifyDestinations(tx, destinationIds)
    return destinationIds
  })
}
