import type { Kysely } from 'kysely'
import type { Schema } from '../../platform/db/schema.ts'
import type { NumberedStream } from '../history/number-sets.ts'

/** Where and how the SETs of a stream are pushed. */
export interface PushTarget {
  readonly streamId: string
  readonly endpointUrl: string
  readonly authorizationHeaderSealed: Buffer | null
  /** The stream whose numbers its SETs carry; undefined when they carry none. */
  readonly numbered: NumberedStream | undefined
}

/** The target of a push stream by its destination; undefined when it is gone or polls now. */
export async function findPushTarget(
  db: Kysely<Schema>,
  destinationId: string,
): Promise<PushTarget | undefined> {
  const row = await db
    .selectFrom('ssf_stream')
    .select(['id', 'stream_id', 'endpoint_url', 'authorization_header_sealed', 'is_numbered'])
    .where('destination_id', '=', destinationId)
    .where('delivery_method', '=', 'push')
    .executeTakeFirst()
  if (row === undefined || row.endpoint_url === null) return undefined
  return {
    streamId: row.stream_id,
    endpointUrl: row.endpoint_url,
    authorizationHeaderSealed: row.authorization_header_sealed,
    numbered: row.is_numbered ? { streamRowId: row.id, destinationId } : undefined,
  }
}
