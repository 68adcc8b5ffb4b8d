/*
 * Where the database is and where it was: the server's identity and the timeline of its log. SQL only; what another
 * one means is follow-origin.ts's.
 */
import { sql, type Kysely, type Transaction } from 'kysely'
import { errorCodeOf } from '../../platform/error-code-of.ts'
import type { Schema } from '../../schema/schema.ts'

/** A server, and the history that it is on. */
export interface DatabaseOrigin {
  /** Given to a cluster by `initdb`; its standbys have the same. */
  readonly systemIdentifier: string
  /** Another one after each promotion and each recovery to a point in time. */
  readonly timelineId: string
  /** Whether a commit waits for a standby. */
  readonly isSynchronous: boolean
}

/** What is noted, and for how long no worker has looked. */
export interface NotedOrigin extends DatabaseOrigin {
  readonly silentMs: number
}

/** What a managed server says that keeps such functions to itself (PostgreSQL, appendix A). */
const NOT_TOLD: readonly (string | undefined)[] = ['0A000', '42501', '42883']

/** Where the database is now; undefined where the server does not tell. Rejects while it recovers. */
export async function findOrigin(db: Kysely<Schema>): Promise<DatabaseOrigin | undefined> {
  try {
    const { rows } = await sql<DatabaseOrigin>`
      select (select system_identifier::text from pg_control_system()) as "systemIdentifier",
        ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint::text as "timelineId",
        current_setting('synchronous_standby_names') <> ''
          and current_setting('synchronous_commit') not in ('off', 'local') as "isSynchronous"`.execute(
      db,
    )
    return rows[0]
  } catch (error) {
    if (NOT_TOLD.includes(errorCodeOf(error))) return undefined
    throw error
  }
}

/** A server that follows. A role that may not read statistics learns of it nothing but that it is there. */
export interface Standby {
  readonly name: string | null
  readonly address: string | null
  readonly state: string | null
  /** Whether commits wait for it: `sync`, `quorum`, `potential` or `async`. */
  readonly syncState: string | null
  /** How much of the log it has not replayed. */
  readonly lagBytes: number | null
  /** How long ago what it replays now was written; null when it has everything. */
  readonly lagMs: number | null
}

/** The standbys that follow the server; a base backup that is being made is none. */
export async function listStandbys(db: Kysely<Schema>): Promise<Standby[]> {
  const { rows } = await sql<Standby>`
    select application_name as name, host(client_addr) as address, state, sync_state as "syncState",
      case when not pg_is_in_recovery() then
        pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::float8 end as "lagBytes",
      (extract(epoch from replay_lag) * 1000)::float8 as "lagMs"
    from pg_stat_replication where state is distinct from 'backup'
    order by application_name, pid`.execute(db)
  return rows
}

/** Where it was; undefined when nobody has looked yet. */
export async function findNotedOrigin(db: Kysely<Schema>): Promise<NotedOrigin | undefined> {
  const { rows } = await selectNotedOrigin.execute(db)
  return rows[0]
}

/** The same, locked until the transaction ends. */
export async function lockNotedOrigin(tx: Transaction<Schema>): Promise<NotedOrigin | undefined> {
  const { rows } = await sql<NotedOrigin>`${selectNotedOrigin} for update of o`.execute(tx)
  return rows[0]
}

const selectNotedOrigin = sql<NotedOrigin>`
  select o.system_identifier as "systemIdentifier", o.timeline_id::text as "timelineId",
    o.is_synchronous as "isSynchronous",
    (extract(epoch from clock_timestamp() - greatest(o.noted_at, c.seen_at)) * 1000)::float8 as "silentMs"
  from database_origin o left join database_clock c on true`

/**
 * Notes where it is. The time stays while only commits wait for a standby, or no longer do: a standby is known by it.
 */
export async function upsertOrigin(
  tx: Transaction<Schema>,
  { systemIdentifier, timelineId, isSynchronous }: DatabaseOrigin,
): Promise<void> {
  await sql`
    insert into database_origin (system_identifier, timeline_id, is_synchronous, noted_at)
    values (${systemIdentifier}, ${timelineId}, ${isSynchronous}, clock_timestamp())
    on conflict (is_single) do update set system_identifier = excluded.system_identifier,
      timeline_id = excluded.timeline_id, is_synchronous = excluded.is_synchronous,
      noted_at = case
        when (database_origin.system_identifier, database_origin.timeline_id)
          = (excluded.system_identifier, excluded.timeline_id) then database_origin.noted_at
        else excluded.noted_at end`.execute(tx)
}

/** Forgets where it was: the next worker notes it. */
export async function deleteOrigin(tx: Transaction<Schema>): Promise<void> {
  await tx.deleteFrom('database_origin').execute()
}
