/*
 * The numbers of SETs as rows: which have one, and the last one of a stream. SQL only; when they are given is
 * for number-sets.ts.
 */
import { sql, type Kysely, type Transaction } from 'kysely'
import { inStepsById, STEP_ROWS } from '../../platform/db/by-id-steps.ts'
import { isWithin, toDeliveryRange, toPartitionStart } from '../dispatch/delivery-range-store.ts'
import type { DestinationId, StreamRowId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'

/** A stream as far as its numbers are concerned. */
export interface NumberedStream {
  readonly streamRowId: StreamRowId
  readonly destinationId: DestinationId
}

/** Numbers that one transaction gives. */
const BATCH_SIZE = 5_000

/** The numbers of those deliveries that have one. */
export async function listSequences(
  db: Kysely<Schema>,
  deliveryIds: readonly string[],
): Promise<Map<string, string>> {
  if (deliveryIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('delivery')
    .select(['id', 'sequence'])
    .where('id', '=', sql<string>`any(${deliveryIds}::bigint[])`)
    .where(sql<boolean>`${isWithin('delivery', toDeliveryRange(deliveryIds))}`)
    .execute()
  return new Map(
    rows.flatMap(({ id, sequence }) => (sequence === null ? [] : [[id, sequence] as const])),
  )
}

/**
 * Numbers what waits in a stream and has no number, in the order of the changes, and answers whether
 * there was anything. What somebody has wait again meanwhile may be left, as if that had come later: whoever hands it
 * out saw it wait, and asks once more.
 */
export async function updateSequences(
  db: Kysely<Schema>,
  { streamRowId, destinationId }: NumberedStream,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const { lastSequence, queuedFromId } = await lockSequence(tx, { streamRowId, destinationId })
    const range = { fromId: toPartitionStart(BigInt(queuedFromId)), toId: null }
    const { rows } = await sql<{ sequence: string }>`
      update delivery d set sequence = ${lastSequence}::bigint + numbered.place
      from (
        select id, row_number() over (order by id) as place from (
          select id from delivery
          where destination_id = ${destinationId} and state = 'queued' and sequence is null
            and ${isWithin('delivery', range)}
          order by id limit ${BATCH_SIZE} for update) waiting) numbered
      where d.id = numbered.id and ${isWithin('d', range)}
      returning d.sequence`.execute(tx)
    if (rows.length === 0) return false
    await sql`update ssf_stream_sequence set last_sequence = last_sequence + ${rows.length}
      where ssf_stream_id = ${streamRowId}`.execute(tx)
    return true
  })
}

/** The last number of a stream, which nobody else gives then, and from which id on deliveries wait for it. */
async function lockSequence(
  tx: Transaction<Schema>,
  { streamRowId, destinationId }: NumberedStream,
): Promise<{ readonly lastSequence: string; readonly queuedFromId: string }> {
  await sql`insert into ssf_stream_sequence (ssf_stream_id) values (${streamRowId})
    on conflict do nothing`.execute(tx)
  return tx
    .selectFrom('ssf_stream_sequence as given')
    .innerJoin('delivery_destination as o', (join) => join.on('o.id', '=', destinationId))
    .select(['given.last_sequence as lastSequence', 'o.queued_from_id as queuedFromId'])
    .where('given.ssf_stream_id', '=', streamRowId)
    .forUpdate('given')
    .executeTakeFirstOrThrow()
}

/** The last number that a stream has given; 0 when there is none. */
export async function findLastSequence(
  tx: Transaction<Schema>,
  streamRowId: StreamRowId,
): Promise<number> {
  const row = await tx
    .selectFrom('ssf_stream_sequence')
    .select('last_sequence')
    .where('ssf_stream_id', '=', streamRowId)
    .executeTakeFirst()
  return Number(row?.last_sequence ?? 0)
}

/** Has every stream give its next numbers above `least`: what it gave out before may be lost here. */
export async function skipSequences(tx: Transaction<Schema>, least: string): Promise<void> {
  await sql`
    insert into ssf_stream_sequence (ssf_stream_id, last_sequence)
    select id, ${least} from ssf_stream order by id
    on conflict (ssf_stream_id) do update set
      last_sequence = greatest(ssf_stream_sequence.last_sequence, excluded.last_sequence)`.execute(
    tx,
  )
}

/**
 * Gives what waits without a number a new `jti`: it may have been sent before with a number that is lost here, and
 * would be sent with another one. What is signed, or has its number, stays as it was sent.
 */
export async function renewUnnumberedSets(tx: Transaction<Schema>): Promise<void> {
  await inStepsById(async (afterId) => {
    const { rows } = await sql<{ lastId: string | null }>`
      with fresh as materialized (
        select w.id, gen_random_uuid()::text as event_id from delivery w
        join ssf_stream s on s.destination_id = w.destination_id and s.is_numbered
        where w.id > ${afterId} and w.state = 'queued' and w.sequence is null and w.token is null
          and w.detached_token is null
        order by w.id limit ${STEP_ROWS} for update of w),
      renewed as (
        update delivery d set event_id = fresh.event_id,
          body = replace(d.body, d.event_id, fresh.event_id)
        from fresh where d.id = fresh.id)
      select max(id) as "lastId" from fresh`.execute(tx)
    return rows[0]?.lastId
  })
}
