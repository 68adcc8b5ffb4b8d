/*
 * Streams whose receivers are silent. A management call that names a stream, and a poll of it, are signs
 * of life; when none has come for the time that the operator set, the stream is paused and its receiver
 * is told. SSF 1.0 section 8.1.1, `inactivity_timeout`.
 */
import { sql, type Kysely } from 'kysely'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Change, RunChange } from '../../changes/change.ts'
import type { WakeDelivery } from '../dispatch/enqueue-deliveries.ts'
import { SECOND_MS, type Clock } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import { setStreamStatus } from './set-stream-status.ts'
import type { Stream } from './stream-store.ts'
import type { StrictSettings } from '../../surfaces/standard-ssf/strict-settings.ts'

/** The NOTIFY channel of streams that may fall silent; the payload is when the first of them would be. */
export const STREAM_ACTIVITY_CHANNEL = 'stream_activity'

type Timeout = Pick<StrictSettings, 'inactivityTimeoutSeconds'>

/** Notes a sign of life of a receiver. Nothing is written while no timeout is set. */
export async function recordActivity(
  db: Kysely<Schema>,
  stream: Pick<Stream, 'id'>,
  at: Date,
  { inactivityTimeoutSeconds }: Timeout,
): Promise<void> {
  if (inactivityTimeoutSeconds === 0) return
  await sql`update ssf_stream set last_activity_at = greatest(last_activity_at, ${at})
    where id = ${stream.id}`.execute(db)
}

/** Tells the processes that pause silent streams that there is one more to watch. */
export async function announceActivity(
  change: Change,
  { inactivityTimeoutSeconds }: Timeout,
): Promise<void> {
  if (inactivityTimeoutSeconds === 0) return
  const dueAt = new Date(change.at.getTime() + inactivityTimeoutSeconds * SECOND_MS)
  await sql`select pg_notify(${STREAM_ACTIVITY_CHANNEL}, ${dueAt.toISOString()})`.execute(change.tx)
}

export interface PauseSilentStreamsDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly runChange: RunChange
  readonly settings: Timeout
  readonly wake: WakeDelivery
}

/**
 * Remembers since when the present timeout holds, so that streams which were silent before it was set are
 * given its full time. Idempotent; called by each process when it starts.
 */
export async function adoptInactivityTimeout(
  { inactivityTimeoutSeconds }: Timeout,
  { db, clock }: { readonly db: Kysely<Schema>; readonly clock: Clock },
): Promise<void> {
  await sql`
    insert into ssf_inactivity_policy (timeout_seconds, effective_since)
    values (${inactivityTimeoutSeconds}, ${clock.now()})
    on conflict (id) do update
      set timeout_seconds = excluded.timeout_seconds, effective_since = excluded.effective_since
      where ssf_inactivity_policy.timeout_seconds <> excluded.timeout_seconds`.execute(db)
}

/**
 * Pauses every stream that has been silent for too long, each in a change of its own, and answers when
 * the next one will have been. Any number of processes may call it at the same time.
 */
export async function pauseSilentStreams(
  dependencies: PauseSilentStreamsDependencies,
): Promise<Date | undefined> {
  const { clock, runChange, settings, wake } = dependencies
  if (settings.inactivityTimeoutSeconds === 0) return undefined
  const reason = `Nothing was heard of the receiver for ${settings.inactivityTimeoutSeconds} seconds`
  for (;;) {
    const silent = await findMostSilent(dependencies)
    if (silent === undefined) return undefined
    if (silent.dueAt > clock.now()) return silent.dueAt
    await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      // Looked at again under its lock: the receiver may just have come back.
      const row = await lockSilent(change, silent.id, settings)
      if (row === undefined) return
      await setStreamStatus(change, row.stream_id, { status: 'paused', reason }, wake)
    })
  }
}

interface SilentStream {
  readonly id: string
  readonly dueAt: Date
}

const LAST_SIGN = sql`greatest(coalesce(s.last_activity_at, s.created_at), p.effective_since)`

async function findMostSilent({
  db,
  settings,
}: PauseSilentStreamsDependencies): Promise<SilentStream | undefined> {
  const { rows } = await sql<{ id: string; due_at: Date }>`
    select s.id,
      ${LAST_SIGN} + make_interval(secs => ${settings.inactivityTimeoutSeconds}) as due_at
    from ssf_stream s cross join ssf_inactivity_policy p
    where s.face = 'strict' and s.status = 'enabled'
    order by due_at, s.id limit 1`.execute(db)
  const [row] = rows
  return row && { id: row.id, dueAt: row.due_at }
}

async function lockSilent(
  change: Change,
  id: string,
  { inactivityTimeoutSeconds }: Timeout,
): Promise<{ stream_id: string } | undefined> {
  const { rows } = await sql<{ stream_id: string }>`
    select s.stream_id from ssf_stream s cross join ssf_inactivity_policy p
    where s.id = ${id} and s.status = 'enabled'
      and ${LAST_SIGN} + make_interval(secs => ${inactivityTimeoutSeconds}) <= ${change.at}
    for update of s`.execute(change.tx)
  return rows[0]
}
