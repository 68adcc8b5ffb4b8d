/*
 * What the tables say of how the service is doing: what waits to be sent, and what waits to be worked on. SQL only;
 * what of it is worth a warning is read-status.ts's.
 */
import { sql, type Kysely } from 'kysely'
import { LISTENER_NAME } from '../../platform/db/listener.ts'
import type { Schema } from '../../schema/schema.ts'

/** What waits in the queues of one kind of destination. */
export interface QueueFigures {
  readonly kind: 'ssf_push' | 'ssf_poll' | 'webhook'
  readonly queued: number
  /** Could be sent at this moment; of polls the receivers come for them. */
  readonly due: number
  readonly inFlight: number
  /** For how long what is due has been; null when nothing is. */
  readonly oldestDueMs: number | null
  readonly dead: number
}

/** The queues by kind. Reads everything that is queued or dead. */
export async function readQueues(db: Kysely<Schema>): Promise<QueueFigures[]> {
  const { rows } = await sql<QueueFigures>`
    with waiting as materialized (
      select t.kind, d.next_attempt_at,
        coalesce(d.claim_expires_at > now(), false) as is_claimed,
        t.kind <> 'ssf_poll' and t.state = 'active' and d.next_attempt_at <= now()
          and coalesce(t.retry_not_before <= now(), true) as is_due
      from delivery d join delivery_destination t on t.id = d.destination_id
      where d.state = 'queued'
    ), queue as (
      select kind, count(*) as queued, count(*) filter (where is_claimed) as in_flight,
        count(*) filter (where is_due and not is_claimed) as due,
        min(next_attempt_at) filter (where is_due and not is_claimed) as due_since
      from waiting group by kind
    ), dead as (
      select t.kind, count(*) as dead
      from delivery d join delivery_destination t on t.id = d.destination_id
      where d.state = 'dead' group by t.kind
    )
    select kind, coalesce(queued, 0)::float8 as queued, coalesce(due, 0)::float8 as due,
      coalesce(in_flight, 0)::float8 as "inFlight", coalesce(dead, 0)::float8 as dead,
      (extract(epoch from now() - due_since) * 1000)::float8 as "oldestDueMs"
    from unnest(array['ssf_push', 'ssf_poll', 'webhook']) as kind
      left join queue using (kind) left join dead using (kind)`.execute(db)
  return rows
}

/** How many SETs that wait in streams with numbers have none yet. */
export async function countUnnumberedSets(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count
    from delivery d join ssf_stream s on s.destination_id = d.destination_id and s.is_numbered
    where d.state = 'queued' and d.sequence is null`.execute(db)
  return rows[0]?.count ?? 0
}

/** For how long the status of a device has been due to be derived anew; null when none is. */
export async function findOldestDueStatusMs(db: Kysely<Schema>): Promise<number | null> {
  const { rows } = await sql<{ ms: number | null }>`
    select (extract(epoch from now() - min(reevaluate_at)) * 1000)::float8 as ms
    from device where reevaluate_at <= now()`.execute(db)
  return rows[0]?.ms ?? null
}

/** Whether it is by a setting of this role or connection that nothing can be written: others may write. */
export async function isReadOnlyByRole(db: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql`
    select from pg_settings
    where name = 'default_transaction_read_only' and setting = 'on'
      and source in ('user', 'database user', 'client', 'session')`.execute(db)
  return rows.length > 0
}

/**
 * Whether a process of the service is connected by another role than this one, and that is not told to only read: for
 * this database, in general, or as everybody. What the server itself tells everybody cannot be seen past what it tells
 * this role; processes that store nothing are missing soon.
 */
export async function hasServiceThatWrites(db: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity as connection
    where datname = current_database() and application_name = ${LISTENER_NAME}
      and usename <> current_user
      and not coalesce((
        select split_part(setting, '=', 2)::boolean
        from pg_db_role_setting, unnest(setconfig) as setting
        where setrole in (0, connection.usesysid) and setdatabase in (0, connection.datid)
          and split_part(setting, '=', 1) = 'default_transaction_read_only'
        -- As the server chooses: what is said of the role counts before what is said of the database.
        order by setrole <> 0 desc, setdatabase <> 0 desc limit 1), false)`.execute(db)
  return rows.length > 0
}

/** The number of the newest migration of the database, and the time by its clock. */
export async function readSchemaVersion(
  db: Kysely<Schema>,
): Promise<{ readonly version: number; readonly now: Date }> {
  const { rows } = await sql<{ version: number; now: Date }>`
    select max(version)::int as version, clock_timestamp() as now from schema_migration`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('the database told no schema version')
  return row
}

/** Whether the server takes writes, and follows no other. */
export async function isPrimary(db: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql<{ is_primary: boolean }>`
    select not pg_is_in_recovery() as is_primary`.execute(db)
  return rows[0]?.is_primary === true
}
