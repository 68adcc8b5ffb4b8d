import { sql, type Kysely } from 'kysely'
import type { Schema } from '../src/schema/schema.ts'

/** Makes the table in which a benchmark notes what it commits as `role`; no other transaction writes its rows. */
export async function createCommitTable(db: Kysely<Schema>, role: string): Promise<void> {
  await sql`create table bench_commit (event_id text not null)`.execute(db)
  await sql`grant select, insert on bench_commit to ${sql.id(role)}`.execute(db)
}

/** Notes an event in the transaction that queues it. */
export async function noteCommit(db: Kysely<Schema>, eventId: string): Promise<void> {
  await sql`insert into bench_commit (event_id) values (${eventId})`.execute(db)
}

/** When each noted event was committed, in milliseconds since the epoch (`track_commit_timestamp`). */
export async function listCommits(db: Kysely<Schema>): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ event_id: string; at_ms: number }>`
    select event_id, extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as at_ms
    from bench_commit`.execute(db)
  return new Map(rows.map((row) => [row.event_id, row.at_ms]))
}
