/*
 * The processes of the service as rows, each with the time at which it last said that it is there. SQL only; when one
 * counts as missing is for who reads them.
 */
import { sql, type Kysely } from 'kysely'
import { timeInMs } from '../../platform/db/database-time.ts'
import type { StoredRecord } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

/** What a process says of itself. */
export type ProcessFacts = Omit<StoredRecord<'service_process'>, 'startedAt' | 'seenAt'>

/** A process, with its times by the clock of the database. */
export interface SeenProcess extends ProcessFacts {
  readonly startedAt: Date
  readonly seenAt: Date
  /** For how long it has not said that it is there. */
  readonly silentMs: number
}

/** Says that a process is there, and forgets those that have not said so for `forgottenAfterMs`. */
export async function upsertProcess(
  db: Kysely<Schema>,
  { id, roles, version, schemaVersion, host, knownNodes }: ProcessFacts,
  forgottenAfterMs: number,
): Promise<void> {
  await sql`
    with forgotten as (
      delete from service_process where seen_at < ${timeInMs(-forgottenAfterMs)} and id <> ${id}
    )
    insert into service_process
      (id, roles, version, schema_version, host, started_at, seen_at, known_nodes)
    values (${id}, ${roles}::text[], ${version}, ${schemaVersion}, ${host}, now(), now(), ${knownNodes})
    on conflict (id) do update set seen_at = excluded.seen_at, known_nodes = excluded.known_nodes`.execute(
    db,
  )
}

/** Says that a process is gone. */
export async function deleteProcess(db: Kysely<Schema>, id: number): Promise<void> {
  await db.deleteFrom('service_process').where('id', '=', id).execute()
}

/** Every process that is not forgotten, the oldest first. */
export async function listProcesses(db: Kysely<Schema>): Promise<SeenProcess[]> {
  const { rows } = await sql<SeenProcess>`
    select id, roles, version, schema_version as "schemaVersion", host, started_at as "startedAt",
      seen_at as "seenAt", known_nodes as "knownNodes",
      (extract(epoch from clock_timestamp() - seen_at) * 1000)::float8 as "silentMs"
    from service_process order by started_at, id`.execute(db)
  return rows
}
