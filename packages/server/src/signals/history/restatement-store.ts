/*
 * Streams that tell their receivers the present status of every device anew, as rows, and how far each has come. SQL
 * only; when a device is told of is restate-streams.ts's.
 */
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import { sql, type Kysely, type Transaction } from 'kysely'
import { timeInMs } from '../../platform/db/database-time.ts'
import type { Change } from '../../changes/change.ts'
import type { DestinationId, StreamRowId } from '../../schema/branded-ids.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const restatementTable = defineTable('ssf_restatement')

export type Restatement = RecordOf<typeof restatementTable>

/** The channel that tells the workers of streams that tell everything anew. */
export const RESTATEMENT_CHANNEL = 'ssf_restatement'

export interface RestatementRequest {
  readonly txn: string
  readonly at: Date
  /** Only devices of which this status transition or a later one is; null for every device. */
  readonly sinceTransitionId: string | null
}

/**
 * Has every stream that gets compliance changes tell anew; one that does already begins again, with all that it was to
 * tell.
 */
export async function insertRestatements(
  { tx, tellAfterCommit }: Pick<Change, 'tx' | 'tellAfterCommit'>,
  { txn, at, sinceTransitionId }: RestatementRequest,
): Promise<number> {
  const { rows } = await sql`
    insert into ssf_restatement as asked (ssf_stream_id, txn, requested_at, since_transition_id)
    select id, ${txn}, ${at}, ${sinceTransitionId}::bigint from ssf_stream
    where status <> 'disabled' and ${DEVICE_COMPLIANCE_CHANGE} = any(events_requested)
    on conflict (ssf_stream_id) do update set txn = excluded.txn,
      requested_at = excluded.requested_at, last_pass_at = null, is_last_pass = false,
      after_device_id = 0, told_count = 0,
      since_transition_id = case
        when num_nulls(asked.since_transition_id, excluded.since_transition_id) = 0
        then least(asked.since_transition_id, excluded.since_transition_id) end
    returning ssf_stream_id`.execute(tx)
  tellAfterCommit(RESTATEMENT_CHANNEL, '')
  return rows.length
}

/** Has a stream that asks for compliance changes again tell all that it has not told, given up events included. */
export async function resumeRestatement(
  { tx, tellAfterCommit }: Pick<Change, 'tx' | 'tellAfterCommit'>,
  id: StreamRowId,
): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('ssf_restatement')
    .set({ after_device_id: '0', told_count: 0 })
    .where('ssf_stream_id', '=', id)
    .executeTakeFirst()
  if (numUpdatedRows > 0n) tellAfterCommit(RESTATEMENT_CHANNEL, '')
}

/** Of a stream that does not ask for compliance changes the restatement rests until it does. */
const IS_WANTED = sql<boolean>`exists (
  select from ssf_stream s where s.id = ssf_restatement.ssf_stream_id
    and (s.status = 'disabled' or ${DEVICE_COMPLIANCE_CHANGE} = any(s.events_requested)))`

/** Locks a restatement that no other worker has and that was not looked at yet in this round; waits for none. */
export async function claimRestatement(
  tx: Transaction<Schema>,
  exceptIds: readonly StreamRowId[],
): Promise<Restatement | undefined> {
  const row = await tx
    .selectFrom('ssf_restatement')
    .selectAll()
    .where('ssf_stream_id', '!=', sql<StreamRowId>`all(${exceptIds}::bigint[])`)
    .where(IS_WANTED)
    .orderBy('ssf_stream_id')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  return row && restatementTable.fromRow(row)
}

export async function isRestatementWaiting(db: Kysely<Schema>): Promise<boolean> {
  const row = await db
    .selectFrom('ssf_restatement')
    .select('txn')
    .where(IS_WANTED)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Notes that the first pass begins: devices that do not answer are waited for until `waitMs` from now. */
export async function beginPasses(
  tx: Transaction<Schema>,
  id: StreamRowId,
  waitMs: number,
): Promise<void> {
  await sql`update ssf_restatement set last_pass_at = ${timeInMs(waitMs)}
    where ssf_stream_id = ${id} and last_pass_at is null`.execute(tx)
}

/**
 * Begins the next pass, which is the last one when no device is waited for any more, or when the clock was set back so
 * that they would be waited for longer than `waitMs`.
 */
export async function beginNextPass(
  tx: Transaction<Schema>,
  id: StreamRowId,
  waitMs: number,
): Promise<void> {
  await sql`
    update ssf_restatement set after_device_id = 0,
      is_last_pass = last_pass_at not between now() and ${timeInMs(waitMs)}
        or not exists (select from device where checks_ran_at is null)
    where ssf_stream_id = ${id}`.execute(tx)
}

export async function advanceRestatement(
  tx: Transaction<Schema>,
  id: StreamRowId,
  { afterDeviceId, toldCount }: { readonly afterDeviceId: string; readonly toldCount: number },
): Promise<void> {
  await tx
    .updateTable('ssf_restatement')
    .set({ after_device_id: afterDeviceId, told_count: toldCount })
    .where('ssf_stream_id', '=', id)
    .execute()
}

export async function deleteRestatement(tx: Transaction<Schema>, id: StreamRowId): Promise<void> {
  await tx.deleteFrom('ssf_restatement').where('ssf_stream_id', '=', id).execute()
}

/**
 * The next devices that a destination was told nothing of since the restatement was asked for, by ascending id; in
 * all but the last pass only those that have answered their checks since. What the restatement itself has told counts
 * whatever the clock says.
 */
export async function listUntoldDeviceIds(
  tx: Transaction<Schema>,
  { afterDeviceId, isLastPass, requestedAt, sinceTransitionId, txn }: Restatement,
  destinationId: DestinationId,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from device
    where id > ${afterDeviceId} and (${isLastPass} or checks_ran_at is not null)
      and (${sinceTransitionId === null} or id in (
        select device_id from device_status_transition where id >= ${sinceTransitionId}))
      and not exists (
        select from delivery
        where destination_id = ${destinationId} and subject_key = 'device:' || device.id
          and event_type = ${DEVICE_COMPLIANCE_CHANGE} and state <> 'discarded'
          and (txn = ${txn} or created_at >= ${requestedAt}))
    order by id limit ${limit}`.execute(tx)
  return rows.map(({ id }) => id)
}
