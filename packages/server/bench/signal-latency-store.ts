import { sql, type Kysely } from 'kysely'
import type { Schema } from '../src/schema/schema.ts'

/** Makes one check the one that blocks a device as soon as it fails, and answers its id. */
export async function makeCheckBlock(db: Kysely<Schema>, platform: 'linux'): Promise<string> {
  const { id } = await db
    .updateTable('posture_check')
    .set({ remediation_strategy: 'block_immediately', begins_blocking_on: null })
    .where('id', '=', (query) =>
      query
        .selectFrom('posture_check')
        .select((check) => check.fn.min('id').as('id'))
        .where('type', '=', 'osquery')
        .where('paused_at', 'is', null)
        .where(sql<boolean>`queries ? ${platform}`),
    )
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** When a change of a device's compliance was committed. */
export interface CommittedChange {
  readonly txn: string
  /** Milliseconds since the epoch, with fractions. */
  readonly committedAtMs: number
  /** When the service began the change. */
  readonly occurredAtMs: number
}

/**
 * The changes of compliance after transition `afterId`, with the time at which PostgreSQL began to
 * commit them (`track_commit_timestamp`): the write to disk comes after it, so a latency counted from
 * here includes it.
 */
export async function listCommittedChanges(
  db: Kysely<Schema>,
  afterId: string,
): Promise<CommittedChange[]> {
  const { rows } = await sql<CommittedChange>`
    select txn,
      extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as "committedAtMs",
      extract(epoch from occurred_at)::float8 * 1000 as "occurredAtMs"
    from device_status_transition
    where id > ${afterId} and from_compliance <> to_compliance`.execute(db)
  return rows
}

/** The id of the last transition; "0" before the first. */
export async function findLastTransitionId(db: Kysely<Schema>): Promise<string> {
  const last = await db
    .selectFrom('device_status_transition')
    .select('id')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return last?.id ?? '0'
}

/** How many deliveries are not recorded as delivered. */
export async function countUndelivered(db: Kysely<Schema>): Promise<number> {
  const { count } = await db
    .selectFrom('delivery')
    .select((delivery) => delivery.fn.countAll<string>().as('count'))
    .where('state', '!=', 'delivered')
    .executeTakeFirstOrThrow()
  return Number(count)
}
