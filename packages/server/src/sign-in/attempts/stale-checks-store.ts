import { sql, type Kysely, type Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** The checks of a device whose last results are older than a time; those that it runs itself. */
export async function listStaleCheckIds(
  db: Kysely<Schema>,
  deviceId: string,
  before: Date,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select r.check_id as id
    from check_result r join posture_check c on c.id = r.check_id
    left join device_round round on round.device_id = r.device_id
    where r.device_id = ${deviceId} and c.type <> 'external' and c.paused_at is null
      and r.status <> 'out_of_scope'
      and coalesce(greatest(r.ran_at, case when r.follows_round then round.ran_at end), '-infinity')
        < ${before}
    order by r.check_id`.execute(db)
  return rows.map(({ id }) => id)
}

/** The checks that a device was asked to run since a time, and has not answered. */
export async function listAskedCheckIds(
  db: Kysely<Schema>,
  deviceId: string,
  since: Date,
): Promise<string[]> {
  const rows = await db
    .selectFrom('check_refresh')
    .select('check_id as id')
    .where('device_id', '=', deviceId)
    .where('requested_at', '>', since)
    .execute()
  return rows.map(({ id }) => id)
}

/** Asks a device to run checks again at once. */
export async function insertCheckRefreshes(
  tx: Transaction<Schema>,
  deviceId: string,
  checkIds: readonly string[],
  at: Date,
): Promise<void> {
  await sql`
    insert into check_refresh (device_id, check_id, requested_at)
    select ${deviceId}::bigint, id, ${at}::timestamptz from unnest(${checkIds}::bigint[]) as id
    on conflict (device_id, check_id) do update set requested_at = excluded.requested_at`.execute(
    tx,
  )
}

/** How many of the checks a device has not answered yet since it was asked. */
export async function countUnanswered(
  db: Kysely<Schema>,
  deviceId: string,
  checkIds: readonly string[],
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from check_refresh
    where device_id = ${deviceId} and check_id = any(${checkIds}::bigint[])`.execute(db)
  return rows[0]?.count ?? 0
}
