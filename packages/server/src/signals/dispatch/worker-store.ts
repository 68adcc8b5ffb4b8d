/*
 * The workers that deliver, in the database: a row each, an advisory lock by its number, and claims that begin
 * with it. SQL only; when a worker counts as dead is worker-presence.ts's.
 */
import { sql, type Kysely } from 'kysely'
import {
  tryLockInTransaction,
  tryLockSql,
  type AdvisoryLock,
} from '../../platform/db/advisory-lock.ts'
import { timeInMs } from '../../platform/db/database-time.ts'
import { newUuid } from '../../platform/ids.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { LOCK_CLASSES } from '../../schema/lock-keys.ts'
import type { Schema } from '../../schema/schema.ts'
import { lockedById, notifyDestinations } from './delivery-store.ts'

const ID_DIGITS = 8

/** The lock that a worker holds for as long as it lives. */
export function toWorkerLock(workerId: number): AdvisoryLock {
  return [LOCK_CLASSES.deliveryWorkers, workerId]
}

/** A new UUID that tells whose claim it is. */
export function newWorkerClaimId(workerId: number): string {
  return toPrefix(workerId) + newUuid().slice(ID_DIGITS)
}

function toPrefix(workerId: number): string {
  return workerId.toString(16).padStart(ID_DIGITS, '0')
}

/** Adds a worker; one that is there already stays as it is. */
export async function insertWorker(db: Kysely<Schema>, id: number): Promise<void> {
  await db
    .insertInto('delivery_worker')
    .values({ id, started_at: sql<Date>`now()`, missing_since: null })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

export async function deleteWorker(db: Kysely<Schema>, id: number): Promise<void> {
  await db.deleteFrom('delivery_worker').where('id', '=', id).execute()
}

/** What a worker sees of all of them. */
export interface WorkerSurvey {
  /** The workers whose locks have been free for long enough. */
  readonly deadIds: readonly number[]
  /** The workers that hold their locks, in the order of their numbers, and the one that looks. */
  readonly livingIds: readonly number[]
  /** Whether the worker that looks is registered itself. */
  readonly isRegistered: boolean
}

/**
 * Looks which locks are free and notes since when. The locks are taken by the statement that looks, and
 * given back at its end.
 */
export async function surveyWorkers(
  db: Kysely<Schema>,
  ownId: number,
  missingMs: number,
): Promise<WorkerSurvey> {
  const lock = tryLockSql([LOCK_CLASSES.deliveryWorkers, sql.ref('id')])
  const { rows } = await sql<{ id: number; isFree: boolean; isNoted: boolean; isDead: boolean }>`
    with worker as materialized (
      select id, missing_since, case when id = ${ownId} then false else ${lock} end as is_free
      from delivery_worker
    )
    select id, is_free as "isFree", missing_since is not null as "isNoted",
      is_free and coalesce(missing_since <= ${timeInMs(-missingMs)}, false) as "isDead"
    from worker`.execute(db)
  const changed = rows.filter(({ isFree, isNoted }) => isFree !== isNoted)
  for (const { id, isFree } of changed) {
    const missingSince = isFree ? sql<Date>`now()` : null
    await db
      .updateTable('delivery_worker')
      .set({ missing_since: missingSince })
      .where('id', '=', id)
      .execute()
  }
  return {
    deadIds: rows.filter(({ isDead }) => isDead).map(({ id }) => id),
    livingIds: toLivingIds(rows, ownId),
    isRegistered: rows.some(({ id }) => id === ownId),
  }
}

function toLivingIds(
  rows: readonly { readonly id: number; readonly isFree: boolean }[],
  ownId: number,
): number[] {
  const ids = new Set(rows.filter(({ isFree }) => !isFree).map(({ id }) => id))
  return [...ids.add(ownId)].sort((left, right) => left - right)
}

/**
 * Releases the claims of a dead worker, deletes it, and answers the destinations whose deliveries are free
 * now. Reads everything that is queued, which takes a moment with a million deliveries; workers die rarely.
 */
export async function releaseWorker(db: Kysely<Schema>, id: number): Promise<DestinationId[]> {
  return db.transaction().execute(async (tx) => {
    if (!(await tryLockInTransaction(tx, toWorkerLock(id)))) return []
    const prefix = toPrefix(id)
    const { rows } = await sql<{ destination_id: DestinationId }>`
      with released as (
        update delivery set claimed_by = null, claim_expires_at = null
        where id in (${lockedById(sql`
          state = 'queued'
            and claimed_by between ${`${prefix}-0000-0000-0000-000000000000`}::uuid
              and ${`${prefix}-ffff-ffff-ffff-ffffffffffff`}::uuid`)})
        returning destination_id
      )
      select distinct destination_id from released`.execute(tx)
    await deleteWorker(tx, id)
    const destinationIds = rows.map(({ destination_id }) => destination_id)
    await notifyDestinations(tx, destinationIds)
    return destinationIds
  })
}
