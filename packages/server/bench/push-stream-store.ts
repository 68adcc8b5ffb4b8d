import type { DestinationId, StreamId } from '../src/schema/branded-ids.ts'
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import type { Kysely } from 'kysely'
import { insertDestination } from '../src/signals/dispatch/destination-store.ts'
import type { Schema } from '../src/schema/schema.ts'
import { newUuid } from '../src/platform/ids.ts'

/** Inserts an enabled push stream for compliance changes and answers the id of its destination. */
export async function insertPushStream(
  db: Kysely<Schema>,
  stream: { readonly endpointUrl: string; readonly issuer: string; readonly at: Date },
): Promise<DestinationId> {
  const destinationId = await insertDestination(db, { kind: 'ssf_push', state: 'active' })
  await db
    .insertInto('ssf_stream')
    .values({
      stream_id: newUuid() as StreamId,
      destination_id: destinationId,
      face: 'root',
      issuer: stream.issuer,
      audience: stream.endpointUrl,
      name: `Benchmark ${destinationId}`,
      description: null,
      delivery_method: 'push',
      endpoint_url: stream.endpointUrl,
      authorization_header_sealed: null,
      events_requested: [DEVICE_COMPLIANCE_CHANGE],
      status_reason: null,
      created_at: stream.at,
      updated_at: stream.at,
    })
    .execute()
  return destinationId
}
