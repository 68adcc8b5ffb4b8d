import type { Change } from '../../changes/change.ts'
import { updateDestinationState } from '../dispatch/destination-store.ts'
import { tellDestinations } from '../dispatch/delivery-store.ts'
import { toStreamAudit } from './stream-json.ts'
import { deleteStreamRow, getStream, type StreamReference } from './stream-store.ts'

/**
 * Deletes a stream with everything that is queued for it, and leaves an audit entry.
 *
 * @throws AppError `not_found`.
 */
export async function deleteStream(change: Change, reference: StreamReference): Promise<void> {
  const stream = await getStream(change.tx, reference, { isLocked: true })
  await deleteStreamRow(change.tx, stream.id)
  await updateDestinationState(change.tx, stream.destinationId, 'deleted')
  tellDestinations(change, [stream.destinationId])
  change.recordAudit({
    action: 'ssf_stream.deleted',
    target: { type: 'ssf_stream', id: stream.id },
    description: `deleted the stream ${stream.name}`,
    before: toStreamAudit(stream),
  })
}
