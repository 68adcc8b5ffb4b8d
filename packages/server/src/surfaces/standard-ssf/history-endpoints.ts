import { toOrigin } from '../../changes/to-origin.ts'
import type { Kysely } from 'kysely'
import type { RunChange } from '../../changes/change.ts'
import type { Schema } from '../../schema/schema.ts'
import { replayAnswerSchema, replayBody, stateSchema } from '../../signals/history/history-json.ts'
import { replayStream, type ReplayDependencies } from '../../signals/history/replay-stream.ts'
import { readReplayRequest, readStatePage } from '../../signals/history/state-page.ts'
import type { StreamStateDependencies } from '../../signals/history/stream-state.ts'
import { getOwnStream } from './own-stream.ts'
import { recordActivity } from '../../signals/streams/stream-activity.ts'
import { readBody, type SsfOperation, ssfOperation, describeQuery } from './ssf-operation.ts'
import type { SsfSettings } from '../../signals/streams/ssf-settings.ts'

export interface HistoryEndpointDependencies extends StreamStateDependencies, ReplayDependencies {
  readonly db: Kysely<Schema>
  readonly runChange: RunChange
  readonly settings: SsfSettings
}

/** State and replay of a receiver's own streams: extensions of SSF that packages/ssf describes. */
export function historyEndpoints(dependencies: HistoryEndpointDependencies): SsfOperation[] {
  return [stateEndpoint(dependencies), replayEndpoint(dependencies)]
}

function stateEndpoint(dependencies: HistoryEndpointDependencies): SsfOperation {
  const { db, clock, settings } = dependencies
  return ssfOperation({
    method: 'GET',
    path: '/ssf/streams/:stream_id/state',
    scope: 'ssf.read',
    summary: 'Show how the subjects of a stream are now',
    description: '`as_of_sequence` is the last event that is taken into account.',
    query: describeQuery({ cursor: 'Continues the state; `next_cursor` of the page before.' }),
    responses: { 200: stateSchema },
    handler: async ({ principal, params, query }) => {
      const stream = await getOwnStream(db, principal, params['stream_id'] ?? '')
      await recordActivity(db, stream, clock.now(), settings)
      const { cursor } = query
      const body = await readStatePage(
        stream,
        typeof cursor === 'string' ? cursor : undefined,
        dependencies,
      )
      return { status: 200, body }
    },
  })
}

function replayEndpoint(dependencies: HistoryEndpointDependencies): SsfOperation {
  return ssfOperation({
    method: 'POST',
    path: '/ssf/streams/:stream_id/replay',
    scope: 'ssf.manage',
    summary: 'Have the events of a stream sent again',
    description: 'With the same `jti` and number, from a place on, as long as they are kept.',
    body: replayBody,
    example: { body: { from_sequence: 17 } },
    responses: { 202: replayAnswerSchema },
    handler: async (request) => {
      const replay = readReplayRequest(readBody(request))
      const { principal, params } = request
      return dependencies.runChange(toOrigin(request), async (change) => {
        const streamId = params['stream_id'] ?? ''
        const stream = await getOwnStream(change.tx, principal, streamId, { isLocked: true })
        await recordActivity(change.tx, stream, change.at, dependencies.settings)
        const body = await replayStream(change, stream, replay, dependencies)
        return { status: 202, body }
      })
    },
  })
}
