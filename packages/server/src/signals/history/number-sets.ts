/*
 * The numbers of the SETs of a stream. They are given after the changes have committed, in their
 * order, by whoever is about to hand SETs out: a change that numbered its own SETs would hold up
 * every other one until its commit.
 */
import type { StreamRowId } from '../../schema/branded-ids.ts'
import { STREAM_SEQUENCE } from '@heliograph/ssf'
import { sql, type Kysely, type Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { Stream } from '../streams/stream-store.ts'

/** A stream as far as its numbers are concerned. */
export interface NumberedStream {
  readonly streamRowId: StreamRowId
  readonly destinationId: string
}

/** The numbers of a stream; undefined when it has chosen none. */
export function toNumberedStream(stream: Stream): NumberedStream | undefined {
  if (!stream.isNumbered) return undefined
  return { streamRowId: stream.id, destinationId: stream.destinationId }
}

interface Numberable {
  readonly id: string
  readonly body: string
}

/** Numbers that one transaction gives. */
const BATCH_SIZE = 5_000

/**
 * The SETs with their numbers in their claims; those that had none are numbered first. SETs of a stream
 * without numbers stay as they are.
 */
export async function withSequences<Delivery extends Numberable>(
  db: Kysely<Schema>,
  stream: NumberedStream | undefined,
  deliveries: readonly Delivery[],
): Promise<readonly Delivery[]> {
  if (stream === undefined) return deliveries
  const ids = deliveries.map(({ id }) => id)
  let sequences = await readSequences(db, ids)
  while (sequences.size < ids.length) {
    const isAny = await numberWaitingSets(db, stream)
    // Read again in any case: another process may have given the numbers meanwhile.
    sequences = await readSequences(db, ids)
    // What is gone has no number to wait for.
    if (!isAny) break
  }
  return deliveries.map((delivery) => {
    const sequence = sequences.get(delivery.id)
    return sequence === undefined
      ? delivery
      : { ...delivery, body: withSequence(delivery.body, sequence) }
  })
}

/**
 * Claims as text with their number: the same bytes for the same number, whoever makes them and
 * however often.
 */
function withSequence(body: string, sequence: string): string {
  return `${body.slice(0, -1)},${JSON.stringify(STREAM_SEQUENCE)}:${sequence}}`
}

async function readSequences(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('delivery')
    .select(['id', 'sequence'])
    .where('id', '=', sql<string>`any(${ids}::bigint[])`)
    .execute()
  return new Map(
    rows.flatMap(({ id, sequence }) => (sequence === null ? [] : [[id, sequence] as const])),
  )
}

/** Numbers everything that waits in a stream and has no number. */
export async function numberAllWaitingSets(
  db: Kysely<Schema>,
  stream: NumberedStream | undefined,
): Promise<void> {
  if (stream === undefined) return
  while (await numberWaitingSets(db, stream));
}

/**
 * Numbers what waits in a stream and has no number, in the order of the changes, and answers whether
 * there was anything.
 */
async function numberWaitingSets(
  db: Kysely<Schema>,
  { streamRowId, destinationId }: NumberedStream,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const last = await lockSequence(tx, streamRowId)
    const { rows } = await sql<{ sequence: string }>`
      update delivery d set sequence = ${last}::bigint + numbered.place
      from (
        select id, row_number() over (order by id) as place from (
          select id from delivery
          where destination_id = ${destinationId} and state = 'queued' and sequence is null
          order by id limit ${BATCH_SIZE} for update) waiting) numbered
      where d.id = numbered.id
      returning d.sequence`.execute(tx)
    if (rows.length === 0) return false
    await sql`update ssf_stream_sequence set last_sequence = last_sequence + ${rows.length}
      where ssf_stream_id = ${streamRowId}`.execute(tx)
    return true
  })
}

async function lockSequence(tx: Transaction<Schema>, streamRowId: StreamRowId): Promise<string> {
  await sql`insert into ssf_stream_sequence (ssf_stream_id) values (${streamRowId})
    on conflict do nothing`.execute(tx)
  const { last_sequence } = await tx
    .selectFrom('ssf_stream_sequence')
    .select('last_sequence')
    .where('ssf_stream_id', '=', streamRowId)
    .forUpdate()
    .executeTakeFirstOrThrow()
  return last_sequence
}
