import { z } from 'zod'
import type { RunChange } from '../../changes/change.ts'
import { changeRoute } from '../../changes/change-routes.ts'
import { answer, type ApiRoute } from '../../schema/operations.ts'
import { STREAM_ACCESS } from '../streams/stream-access.ts'
import { getStream, parseStreamReference } from '../streams/stream-store.ts'
import { requestBackfill } from './backfill-streams.ts'

const backfillSchema = z
  .object({ stream_id: z.string(), txn: z.string().describe('What all its events share.') })
  .meta({ id: 'StreamBackfill' })

/** The backfill of a stream, for admins and their integrations: receivers read its state. */
export function backfillRoute({ runChange }: { readonly runChange: RunChange }): ApiRoute {
  return changeRoute(runChange, {
    ...STREAM_ACCESS,
    method: 'POST',
    path: '/ssf_streams/:id/backfill',
    summary: 'Tell a stream the last change of every device',
    description:
      'For a receiver that has just connected. Each event has the time at which the change happened; what the stream has been told already is left out.',
    responses: { 202: backfillSchema },
    handler: async ({ change, params }) => {
      const stream = await getStream(change.tx, parseStreamReference(params.id), {
        isLocked: true,
      })
      await requestBackfill(change, stream)
      return answer(202, { stream_id: stream.streamId, txn: change.txn })
    },
  })
}
