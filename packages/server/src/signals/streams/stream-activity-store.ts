/*
 * When the receivers of streams were last heard of, and which have been silent for too long. SQL only;
 * what follows from it is in stream-activity.ts.
 */
import type { StreamRowId, StreamId } from '../../schema/branded-ids.ts'
import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** Notes that the receiver of a stream was heard of; a later time stays. */
export async function updateLastActivity(
  db: Kysely<Schema>,
  streamRowId: StreamRowId,
  at: Date,
): Promise<void> {
  await sql`update ssf_stream set last_activity_at = greatest(last_activity_at, ${at})
    where id = ${streamRowId}`.execute(db)
}

/** Remembers the timeout, and since when it holds: from `now` on when it is another than before. */
export async function putInactivityPolicy(
  db: Kysely<Schema>,
  timeoutSeconds: number,
  now: Date,
): Promise<void> {
  await sql`
    insert into ssf_inactivity_policy (timeout_seconds, effective_since)
    values (${timeoutSeconds}, ${now})
    on conflict (id) do update
      set timeout_seconds = excluded.timeout_seconds, effective_since = excluded.effective_since
      where ssf_inactivity_policy.timeout_seconds <> excluded.timeout_seconds`.execute(db)
}

const LAST_SIGN = sql`greatest(coalesce(s.last_activity_at, s.created_at), p.effective_since)`

/** The enabled stream of a client that falls silent first, and when; undefined when there is none. */
export async function findMostSilent(
  db: Kysely<Schema>,
  timeoutSeconds: number,
): Promise<{ readonly id: StreamRowId; readonly dueAt: Date } | undefined> {
  const { rows } = await sql<{ id: StreamRowId; dueAt: Date }>`
    select s.id, ${LAST_SIGN} + make_interval(secs => ${timeoutSeconds}) as "dueAt"
    from ssf_stream s cross join ssf_inactivity_policy p
    where s.face = 'strict' and s.status = 'enabled'
    order by "dueAt", s.id limit 1`.execute(db)
  return rows[0]
}

/** Locks a stream that is silent for too long and answers its `stream_id`; undefined when it is not. */
export async function lockSilent(
  db: Kysely<Schema>,
  streamRowId: StreamRowId,
  { timeoutSeconds, at }: { readonly timeoutSeconds: number; readonly at: Date },
): Promise<StreamId | undefined> {
  const { rows } = await sql<{ streamId: StreamId }>`
    select s.stream_id as "streamId" from ssf_stream s cross join ssf_inactivity_policy p
    where s.id = ${streamRowId} and s.status = 'enabled'
      and ${LAST_SIGN} + make_interval(secs => ${timeoutSeconds}) <= ${at}
    for update of s`.execute(db)
  return rows[0]?.streamId
}
