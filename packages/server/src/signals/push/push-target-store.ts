import type { DestinationId, StreamRowId } from '../../schema/branded-ids.ts'
import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { PushAuthenticationFacts } from '../../schema/tables/ssf-stream-tables.ts'
import type { NumberedStream } from '../history/sequence-store.ts'

/** Where and how the SETs of a stream are pushed. */
export interface PushTarget {
  readonly streamRowId: StreamRowId
  readonly streamId: string
  readonly endpointUrl: string
  readonly authorizationHeaderSealed: Buffer | null
  /** What else the service authenticates with; its secrets are stored apart. */
  readonly authentication: PushAuthenticationFacts | null
  readonly eventsRequested: readonly string[]
  /** What cannot be pushed is kept for polls. */
  readonly fallsBackToPoll: boolean
  /** The stream whose numbers its SETs carry; undefined when they carry none. */
  readonly numbered: NumberedStream | undefined
}

/** The target of a push stream by its destination; undefined when it is gone or polls now. */
export async function findPushTarget(
  db: Kysely<Schema>,
  destinationId: DestinationId,
): Promise<PushTarget | undefined> {
  const row = await db
    .selectFrom('ssf_stream')
    .select([
      'id',
      'stream_id',
      'endpoint_url',
      'authorization_header_sealed',
      'push_authentication',
      'events_requested',
      'fallback_to_poll',
      'is_numbered',
    ])
    .where('destination_id', '=', destinationId)
    .where('delivery_method', '=', 'push')
    .executeTakeFirst()
  if (row === undefined || row.endpoint_url === null) return undefined
  return {
    streamRowId: row.id,
    streamId: row.stream_id,
    endpointUrl: row.endpoint_url,
    authorizationHeaderSealed: row.authorization_header_sealed,
    authentication: row.push_authentication,
    eventsRequested: row.events_requested,
    fallsBackToPoll: row.fallback_to_poll,
    numbered: row.is_numbered ? { streamRowId: row.id, destinationId } : undefined,
  }
}
