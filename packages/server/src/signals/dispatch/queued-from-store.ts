/*
 * From which id on deliveries wait for each destination (`queued_from_id`). It is raised here, as older ones end; the
 * database lowers it where one that had ended waits again. SQL only.
 */
import { sql, type Kysely, type Transaction } from 'kysely'
import { tryLockInTransaction } from '../../platform/db/advisory-lock.ts'
import { LOCK_KEYS } from '../../schema/lock-keys.ts'
import type { Schema } from '../../schema/schema.ts'
import { PARTITION_IDS } from './delivery-range-store.ts'

/** Partitions before the present one that are tried; others were in an earlier run. */
const STARTS_MAX = 9

/**
 * Raises the ids as far as nothing waits before them. Left for the next run while a transaction is open that has an ended
 * delivery wait again. Idempotent.
 */
export async function raiseQueuedFrom(db: Kysely<Schema>): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (!(await tryLockInTransaction(tx, LOCK_KEYS.waitingDeliveries))) return
    const settledId = await findSettledId(tx)
    if (settledId === null) return
    const isBefore = sql`w.id < ${sql.lit(BigInt(settledId))}`
    await sql`
      update delivery_destination d set queued_from_id = waiting.from_id
      from (
        select o.id, coalesce((select min(w.id) from delivery w
          where w.destination_id = o.id and w.state = 'queued' and w.id >= o.queued_from_id
            and ${isBefore}), ${settledId}::bigint) as from_id
        from delivery_destination o where o.queued_from_id < ${settledId}::bigint
      ) waiting
      where d.id = waiting.id and d.queued_from_id < waiting.from_id`.execute(tx)
  })
}

/**
 * The first id of the latest partition before which nothing can come any more: its ids are in use for longer than any
 * transaction lasts.
 */
async function findSettledId(tx: Transaction<Schema>): Promise<string | null> {
  const { rows } = await sql<{ id: string | null }>`
    select max(start.id)::text as id
    from (select partition_position('delivery') / ${PARTITION_IDS}::bigint as number) present
    cross join lateral (select n * ${PARTITION_IDS}::bigint as id
      from generate_series(greatest(1, present.number - ${STARTS_MAX}::int), present.number) n) start
    cross join lateral (
      select created_at from delivery where delivery.id >= start.id
      order by delivery.id limit 1) first
    where first.created_at <= now() - interval '1 day'`.execute(tx)
  return rows[0]?.id ?? null
}
