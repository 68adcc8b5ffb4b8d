import { sql, type Insertable, type Kysely, type Updateable } from 'kysely'
import { AppError } from '../../platform/app-error.ts'
import { isId, isUuid } from '../../platform/ids.ts'
import type { DestinationId, StreamId, StreamRowId } from '../../schema/branded-ids.ts'
import { readPage, type PageWindow } from '../../platform/db/page.ts'
import type { CamelCased, FindOptions } from '../../platform/db/record-table.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'
import { lockedById } from '../dispatch/delivery-store.ts'
import { toGivenUpReason } from '../dispatch/redrive-store.ts'
import { lockInTransaction } from '../../platform/db/advisory-lock.ts'
import { LOCK_KEYS } from '../../schema/lock-keys.ts'

const RENAMED = { face: 'surface', damping_seconds: 'debounceSeconds' } as const

export const streamTable = defineTable('ssf_stream', RENAMED)

/** A stream: who its receiver is, how it is delivered to, and what it chooses. */
export type Stream = RecordOf<typeof streamTable>
export type NewStream = CamelCased<Insertable<Schema['ssf_stream']>, typeof RENAMED>
export type StreamChanges = CamelCased<Updateable<Schema['ssf_stream']>, typeof RENAMED>

/** Names a stream by either of its ids; a stream names itself. */
export type StreamReference = { readonly id: StreamRowId } | { readonly streamId: StreamId }

/**
 * The stream that a text from outside names, by its `id` or its `stream_id`.
 *
 * @throws AppError `not_found`, the same for every text that names no stream
 */
export function parseStreamReference(text: string): StreamReference {
  if (isId(text)) return { id: text as StreamRowId }
  return { streamId: parseStreamId(text) }
}

/**
 * The `stream_id` of a stream from outside.
 *
 * @throws AppError `not_found` for a text that cannot be one
 */
export function parseStreamId(text: string): StreamId {
  return orNoSuchStream(isStreamId(text) ? text : undefined)
}

/** Whether a text has the form of a `stream_id`. */
export function isStreamId(text: string): text is StreamId {
  return isUuid(text)
}

/**
 * The stream with this `id` (of its row) or this `stream_id` (a UUID), whichever the reference holds.
 *
 * @throws AppError `not_found`
 */
export async function getStream(
  db: Kysely<Schema>,
  reference: StreamReference,
  options?: FindOptions,
): Promise<Stream> {
  const key = 'id' in reference ? { id: reference.id } : { streamId: reference.streamId }
  return orNoSuchStream(await streamTable.find(db, key, options))
}

/** Whether there is a stream that a text from outside names, by its `id` or its `stream_id`. */
export async function hasStream(db: Kysely<Schema>, text: string): Promise<boolean> {
  if (isId(text)) return (await streamTable.find(db, { id: text as StreamRowId })) !== undefined
  return isStreamId(text) && (await streamTable.find(db, { streamId: text })) !== undefined
}

/** The stream of a destination; undefined when it is deleted. */
export async function findStreamOfDestination(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  options?: FindOptions,
): Promise<Stream | undefined> {
  return streamTable.find(db, { destinationId }, options)
}

/**
 * A stream of a client. Streams of others are told apart from those that do not exist by nobody
 * (SSF 1.0 section 8).
 *
 * @throws AppError `not_found`
 */
export async function getClientStream(
  db: Kysely<Schema>,
  ssfClientId: string,
  streamId: StreamId,
  options?: FindOptions,
): Promise<Stream> {
  return orNoSuchStream(await streamTable.find(db, { streamId, ssfClientId }, options))
}

/** The streams of a page, oldest first. */
export async function listStreams(db: Kysely<Schema>, window: PageWindow): Promise<Stream[]> {
  const rows = await readPage(db.selectFrom('ssf_stream').selectAll(), 'id', window)
  return rows.map(streamTable.fromRow)
}

/** The streams of a client, oldest first; the limit on streams bounds them. */
export async function listClientStreams(
  db: Kysely<Schema>,
  ssfClientId: string,
): Promise<Stream[]> {
  return streamTable.list(db, { ssfClientId })
}

/** The streams that an event of this type goes to: all that asked for it and are not disabled. */
export async function listReceivingStreams(
  db: Kysely<Schema>,
  eventType: string,
): Promise<Stream[]> {
  const rows = await db
    .selectFrom('ssf_stream')
    .selectAll()
    .where('status', '!=', 'disabled')
    .where(sql<boolean>`${eventType} = any(events_requested)`)
    .orderBy('id')
    .execute()
  return rows.map(streamTable.fromRow)
}

export async function insertStream(db: Kysely<Schema>, stream: NewStream): Promise<Stream> {
  return streamTable.insert(db, stream)
}

export async function updateStream(
  db: Kysely<Schema>,
  id: StreamRowId,
  changes: StreamChanges,
): Promise<Stream> {
  return streamTable.update(db, { id }, changes)
}

export async function deleteStreamRow(db: Kysely<Schema>, id: StreamRowId): Promise<void> {
  await streamTable.delete(db, { id })
}

/** How many streams there are; nobody else creates one until the transaction ends. */
export async function countStreamsLocked(db: Kysely<Schema>): Promise<number> {
  await lockInTransaction(db, LOCK_KEYS.streams)
  const { count } = await db
    .selectFrom('ssf_stream')
    .select((select) => select.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** The refusal is the same for every text that names no stream. */
function orNoSuchStream<Found>(found: Found | undefined): Found {
  if (found === undefined) throw new AppError('not_found', 'There is no such stream.')
  return found
}

/** Gives up what is queued for a stream that is disabled, but for what outlives its stop. */
export async function discardQueuedDeliveries(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  at: Date,
): Promise<void> {
  await sql`update delivery set state = 'discarded', finished_at = ${at}, claimed_by = null,
      claim_expires_at = null, last_error = ${toGivenUpReason('The stream was disabled')}
    where id in (${lockedById(sql`
      destination_id = ${destinationId} and state = 'queued' and not outlives_stop`)})`.execute(db)
}
