/*
 * What a stream has told and how its devices are now, for admins and their integrations: state, replay
 * and backfill. Receivers have the first two with their own credential.
 */
import type { Kysely } from 'kysely'
import { z } from 'zod'
import { answer, route, type ApiRoute } from '../../schema/operations.ts'
import type { RunChange } from '../../changes/change.ts'
import { toOrigin } from '../../changes/to-origin.ts'
import type { Schema } from '../../schema/schema.ts'
import { STREAM_ACCESS } from '../streams/stream-access.ts'
import { getStream, parseStreamReference } from '../streams/stream-store.ts'
import { requestBackfill } from './backfill-streams.ts'
import { replayAnswerSchema, replayBody, stateSchema } from './history-json.ts'
import { replayStream, type ReplayDependencies } from './replay-stream.ts'
import { readReplayRequest, readStatePage } from './state-page.ts'
import type { StreamStateDependencies } from './stream-state.ts'

export interface HistoryDependencies extends StreamStateDependencies, ReplayDependencies {
  readonly db: Kysely<Schema>
  readonly runChange: RunChange
}

const backfillSchema = z
  .object({ stream_id: z.string(), txn: z.string().describe('What all its events share.') })
  .meta({ id: 'StreamBackfill' })

/** State, replay and backfill of streams. */
export function historyRoutes(dependencies: HistoryDependencies): ApiRoute[] {
  return [stateRoute(dependencies), replayRoute(dependencies), backfillRoute(dependencies)]
}

function stateRoute(dependencies: HistoryDependencies): ApiRoute {
  return route({
    ...STREAM_ACCESS,
    method: 'GET',
    path: '/ssf_streams/:id/state',
    summary: 'Show how the devices of a stream are now',
    description:
      'The present status of every device that the stream tells of, as its events name them. `as_of_sequence` is the last event that is taken into account.',
    query: z.object({ cursor: z.string().max(64).optional() }),
    responses: { 200: stateSchema },
    handler: async ({ params, query }) => {
      const stream = await getStream(dependencies.db, parseStreamReference(params.id))
      return readStatePage(stream, query.cursor, dependencies)
    },
  })
}

function replayRoute(dependencies: HistoryDependencies): ApiRoute {
  return route({
    ...STREAM_ACCESS,
    method: 'POST',
    path: '/ssf_streams/:id/replay',
    summary: 'Send the events of a stream again',
    description:
      'With the same `jti` and number, from a place on, as long as they are kept. Receivers pass over what they know.',
    body: replayBody,
    example: { body: { from_time: 1_767_225_600 } },
    responses: { 202: replayAnswerSchema },
    handler: (context) => {
      const request = readReplayRequest(context.body)
      return dependencies.runChange(toOrigin(context), async (change) => {
        const stream = await getStream(change.tx, parseStreamReference(context.params.id), {
          isLocked: true,
        })
        return answer(202, await replayStream(change, stream, request, dependencies))
      })
    },
  })
}

function backfillRoute({ runChange }: HistoryDependencies): ApiRoute {
  return route({
    ...STREAM_ACCESS,
    method: 'POST',
    path: '/ssf_streams/:id/backfill',
    summary: 'Tell a stream the last change of every device',
    description:
      'For a receiver that has just connected. Each event has the time at which the change happened; what the stream has been told already is left out.',
    responses: { 202: backfillSchema },
    handler: (context) =>
      runChange(toOrigin(context), async (change) => {
        const stream = await getStream(change.tx, parseStreamReference(context.params.id), {
          isLocked: true,
        })
        await requestBackfill(change, stream)
        return answer(202, { stream_id: stream.streamId, txn: change.txn })
      }),
  })
}
