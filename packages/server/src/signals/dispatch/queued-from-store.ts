/*
 * From which id on deliveries wait for each destination (`queued_from_id`). It is raised here, as older ones end; the
 * database lowers it where one that had ended waits again. SQL only.
 */
import { sql, type Kysely } from 'kysely'
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../../platform/clock.ts'
import { tryLockInTransaction } from '../../platform/db/advisory-lock.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { LOCK_KEYS } from '../../schema/lock-keys.ts'
import type { Schema } from '../../schema/schema.ts'
import { isWithin, PARTITION_IDS, toPartitionStart } from './delivery-range-store.ts'

/** Partitions before the present one that are tried; others were in an earlier run. */
const STARTS_MAX = 9
/** How long to wait for those who write deliveries; they take milliseconds. */
const WRITERS_MAX_MS = 10 * SECOND_MS
const PAUSE_MS = 100

/** A destination before whose waiting deliveries there are ids in which nothing waits. */
interface Raisable {
  readonly id: DestinationId
  readonly queuedFromId: string
}

/**
 * Raises the ids as far as nothing waits before them. Each destination is a transaction of its own, which takes its row
 * last and waits for nobody who has it. Left for the next run is what is raised while somebody has an ended delivery
 * wait again, or while somebody writes for longer than `writersMaxMs`. Idempotent.
 */
export async function raiseQueuedFrom(
  db: Kysely<Schema>,
  { writersMaxMs = WRITERS_MAX_MS }: { readonly writersMaxMs?: number } = {},
): Promise<void> {
  const settledId = await findSettledId(db)
  if (settledId === null) return
  const raisable = await listRaisable(db, settledId)
  if (raisable.length === 0 || !(await haveWritersEnded(db, writersMaxMs))) return
  for (const destination of raisable) {
    if (!(await raise(db, destination, settledId))) return
  }
}

/**
 * The first id of the latest partition whose ids have been in use for a day. Whoever still writes with an id before it
 * was there when this was asked.
 */
async function findSettledId(db: Kysely<Schema>): Promise<bigint | null> {
  const { rows } = await sql<{ id: string | null }>`
    select max(start.id)::text as id
    from (select partition_position('delivery') / ${PARTITION_IDS}::bigint as number) present
    cross join lateral (select n * ${PARTITION_IDS}::bigint as id
      from generate_series(greatest(1, present.number - ${STARTS_MAX}::int), present.number) n) start
    cross join lateral (
      select created_at from delivery where delivery.id >= start.id
      order by delivery.id limit 1) first
    where first.created_at <= now() - interval '1 day'`.execute(db)
  const id = rows[0]?.id ?? null
  return id === null ? null : BigInt(id)
}

async function listRaisable(db: Kysely<Schema>, settledId: bigint): Promise<Raisable[]> {
  const { rows } = await sql<Raisable>`
    select o.id, o.queued_from_id as "queuedFromId" from delivery_destination o
    where o.queued_from_id < ${settledId}::bigint and not exists (
      select from delivery w
      where w.id = o.queued_from_id and w.destination_id = o.id and w.state = 'queued')
    order by o.id`.execute(db)
  return rows
}

/**
 * Waits until everybody has ended who writes deliveries now: an id is drawn under a lock of the table, so that what
 * comes later has ids behind those that are in use. Answers false when that takes too long.
 */
async function haveWritersEnded(db: Kysely<Schema>, maxMs: number): Promise<boolean> {
  const untilMs = performance.now() + maxMs
  let left = await listWriters(db)
  while (left.length > 0) {
    if (performance.now() >= untilMs) return false
    await sleep(PAUSE_MS)
    const present = new Set(await listWriters(db))
    left = left.filter((transaction) => present.has(transaction))
  }
  return true
}

/** The transactions that may write deliveries, those that are prepared too. */
async function listWriters(db: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{ transaction: string }>`
    select distinct virtualtransaction as transaction from pg_locks
    where locktype = 'relation' and relation = 'delivery'::regclass and mode = 'RowExclusiveLock' and granted
      and database = (select oid from pg_database where datname = current_database())`.execute(db)
  return rows.map(({ transaction }) => transaction)
}

/** Answers false while somebody has an ended delivery wait again. */
async function raise(
  db: Kysely<Schema>,
  { id, queuedFromId }: Raisable,
  settledId: bigint,
): Promise<boolean> {
  const range = { fromId: toPartitionStart(BigInt(queuedFromId)), toId: settledId }
  return db.transaction().execute(async (tx) => {
    if (!(await tryLockInTransaction(tx, LOCK_KEYS.waitingDeliveries))) return false
    // The row is as it was, or is left for the next run: nobody has looked before where it began.
    await sql`
      with waiting as materialized (
        select coalesce(min(w.id), ${settledId}::bigint) as from_id from delivery w
        where w.destination_id = ${id} and w.state = 'queued' and w.id >= ${queuedFromId}
          and ${isWithin('w', range)}),
      free as materialized (
        select d.id, waiting.from_id from delivery_destination d, waiting
        where d.id = ${id} and d.queued_from_id = ${queuedFromId} and d.queued_from_id < waiting.from_id
        for no key update of d skip locked)
      update delivery_destination d set queued_from_id = free.from_id
      from free where d.id = free.id`.execute(tx)
    return true
  })
}
