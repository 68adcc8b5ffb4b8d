import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import { sql, type Kysely, type Transaction } from 'kysely'
import type { Change } from '../../changes/change.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'
import type { AuthState, Compliance, InitiatingEntity } from '../../schema/status-values.ts'

const backfillTable = defineTable('ssf_backfill')

export type Backfill = RecordOf<typeof backfillTable>

/** The channel that tells the worker of a stream that asks for the last change of each device. */
export const BACKFILL_CHANNEL = 'ssf_backfill'

/** Asks for a backfill of a stream; one that is under way begins anew. */
export async function insertBackfill(
  change: Pick<Change, 'tx' | 'tellAfterCommit'>,
  backfill: Pick<Backfill, 'ssfStreamId' | 'txn' | 'requestedAt'>,
): Promise<void> {
  const values = backfillTable.toInsert(backfill)
  await change.tx
    .insertInto('ssf_backfill')
    .values(values)
    .onConflict((conflict) =>
      conflict
        .column('ssf_stream_id')
        .doUpdateSet({ ...values, after_device_id: '0', queued_count: 0 }),
    )
    .execute()
  change.tellAfterCommit(BACKFILL_CHANNEL, '')
}

/** Locks the oldest backfill that no other worker has; waits for none. */
export async function claimBackfill(tx: Transaction<Schema>): Promise<Backfill | undefined> {
  const row = await tx
    .selectFrom('ssf_backfill')
    .selectAll()
    .orderBy('id')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  return row && backfillTable.fromRow(row)
}

export async function isBackfillWaiting(db: Kysely<Schema>): Promise<boolean> {
  const row = await db.selectFrom('ssf_backfill').select('id').limit(1).executeTakeFirst()
  return row !== undefined
}

export async function advanceBackfill(
  tx: Transaction<Schema>,
  id: string,
  place: Pick<Backfill, 'afterDeviceId' | 'queuedCount'>,
): Promise<void> {
  await backfillTable.updateAll(tx, { id }, place)
}

export async function deleteBackfill(tx: Transaction<Schema>, id: string): Promise<void> {
  await backfillTable.delete(tx, { id })
}

/** The last change of compliance of a device. */
export interface LastChange {
  readonly deviceId: string
  readonly fromState: AuthState
  readonly toState: AuthState
  readonly fromCompliance: Compliance
  readonly toCompliance: Compliance
  readonly initiatingEntity: InitiatingEntity
  readonly occurredAt: Date
}

/**
 * The last change of compliance of each device that has had one and that this destination was not told of: by no
 * event of that change, and not by the last event about the device either, which may be of a backfill before and tells
 * the same as late or later. Of an event whose content is no longer kept only its own change is
 * known. The devices must be locked.
 */
export async function listUnpublishedChanges(
  tx: Transaction<Schema>,
  deviceIds: readonly string[],
  destinationId: DestinationId,
): Promise<LastChange[]> {
  const { rows } = await sql<LastChange>`
    select t.device_id as "deviceId", t.from_state as "fromState", t.to_state as "toState",
      t.from_compliance as "fromCompliance", t.to_compliance as "toCompliance",
      t.initiating_entity as "initiatingEntity", t.occurred_at as "occurredAt"
    from unnest(${deviceIds}::bigint[]) as wanted (id)
    cross join lateral (
      select * from device_status_transition
      where device_id = wanted.id and from_compliance <> to_compliance
      order by id desc limit 1) t
    where not exists (
      select from delivery
      where destination_id = ${destinationId} and subject_key = 'device:' || wanted.id
        and txn = t.txn and state <> 'discarded')
    and not exists (
      select from (
        select nullif(body, '')::jsonb -> 'events' -> event_type as event from delivery
        where destination_id = ${destinationId} and subject_key = 'device:' || wanted.id
          and state <> 'discarded' and event_type = ${DEVICE_COMPLIANCE_CHANGE}
        order by id desc limit 1) as told
      where event ->> 'current_status' = t.to_compliance
        and (event ->> 'event_timestamp')::numeric >= floor(extract(epoch from t.occurred_at)))
    order by t.device_id`.execute(tx)
  return rows
}
