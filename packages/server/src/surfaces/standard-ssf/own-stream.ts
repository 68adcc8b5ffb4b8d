import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { getClientStream, parseStreamId, type Stream } from '../../signals/streams/stream-store.ts'
import type { SsfCaller } from './ssf-caller.ts'

/**
 * A stream of the calling client by its `stream_id`.
 *
 * @throws AppError `not_found`
 */
export async function getOwnStream(
  db: Kysely<Schema>,
  { client }: Pick<SsfCaller, 'client'>,
  streamId: string,
  options: { readonly isLocked?: boolean } = {},
): Promise<Stream> {
  return getClientStream(db, client.id, parseStreamId(streamId), options)
}
