import type { Kysely } from 'kysely'
import { AppError } from '../../platform/app-error.ts'
import type { Schema } from '../../schema/schema.ts'
import { isUuid } from '../../platform/ids.ts'
import type { StreamRow } from '../../signals/streams/stream-store.ts'
import type { StrictCaller } from './authenticate-client.ts'

/**
 * A stream of a client by its `stream_id`. Streams of others are told apart from those that do not exist
 * by nobody (SSF 1.0 section 8).
 *
 * @throws AppError `not_found`
 */
export async function getOwnStream(
  db: Kysely<Schema>,
  client: Pick<StrictCaller, 'id'>,
  streamId: string,
  options: { readonly isLocked?: boolean } = {},
): Promise<StreamRow> {
  const row = isUuid(streamId)
    ? await db
        .selectFrom('ssf_stream')
        .selectAll()
        .where('stream_id', '=', streamId)
        .where('ssf_client_id', '=', client.id)
        .$if(options.isLocked === true, (query) => query.forUpdate())
        .executeTakeFirst()
    : undefined
  if (row === undefined) throw new AppError('not_found', 'not_found', 'There is no such stream.')
  return row
}
