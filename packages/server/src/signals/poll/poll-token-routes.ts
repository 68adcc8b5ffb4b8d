import { z } from 'zod'
import type { Foundation } from '../../changes/foundation.ts'
import { changeRoute } from '../../changes/change-routes.ts'
import { route, type ApiRoute } from '../../schema/operations.ts'
import { STREAM_ACCESS } from '../streams/stream-access.ts'
import { getStream, parseStreamReference } from '../streams/stream-store.ts'
import { rotatedSchema, tokenListSchema, toRotatedJson, toTokenJson } from './poll-token-json.ts'
import { listLivePollTokens } from './poll-token-store.ts'
import {
  OVERLAP_SECONDS_DEFAULT,
  OVERLAP_SECONDS_MAX,
  POLL_TOKEN_MODES,
  rotatePollToken,
} from './rotate-poll-token.ts'

export type PollTokenRouteDependencies = Pick<Foundation, 'db' | 'clock' | 'runChange'>

const rotationBody = z.strictObject({
  mode: z
    .enum(POLL_TOKEN_MODES)
    .default('overlap')
    .describe(
      '`overlap` accepts the tokens before it for a time, `immediate` ends them at once, `disable` ends them and issues none.',
    ),
  overlap_seconds: z
    .int()
    .min(1)
    .max(OVERLAP_SECONDS_MAX)
    .default(OVERLAP_SECONDS_DEFAULT)
    .describe('How long the tokens before it are accepted; with `overlap` only.'),
})

/** The poll tokens of streams: who may fetch the events of one stream and do nothing else. */
export function pollTokenRoutes(dependencies: PollTokenRouteDependencies): ApiRoute[] {
  const { db, clock } = dependencies
  return [
    route({
      ...STREAM_ACCESS,
      method: 'GET',
      path: '/ssf_streams/:id/poll_token',
      summary: 'Show the poll tokens of a stream',
      description: 'Without their secrets, newest first.',
      responses: { 200: tokenListSchema },
      handler: async ({ params }) => {
        const stream = await getStream(db, parseStreamReference(params.id))
        const tokens = await listLivePollTokens(db, stream.id, clock.now())
        return { stream_id: stream.streamId, tokens: tokens.map(toTokenJson) }
      },
    }),
    rotationRoute('/ssf_streams/:id/poll_token', 'Issue or revoke poll tokens', dependencies),
    rotationRoute(
      '/ssf_streams/:id/rotate_poll_token',
      'Issue or revoke poll tokens, under the name that clients of the K2 API know',
      dependencies,
    ),
  ]
}

function rotationRoute(
  path: '/ssf_streams/:id/poll_token' | '/ssf_streams/:id/rotate_poll_token',
  summary: string,
  { runChange }: PollTokenRouteDependencies,
): ApiRoute {
  return changeRoute(runChange, {
    ...STREAM_ACCESS,
    method: 'POST',
    path,
    stepUp: true,
    summary,
    description: 'The token is answered once; the service keeps its hash.',
    body: rotationBody,
    responses: { 200: rotatedSchema },
    example: { body: { mode: 'overlap', overlap_seconds: 86_400 } },
    handler: async ({ change, params, body }) => {
      const { mode, overlap_seconds: overlapSeconds } = body
      const { id } = params
      const rotated = await rotatePollToken(change, parseStreamReference(id), {
        mode,
        overlapSeconds,
      })
      return toRotatedJson(rotated, mode)
    },
  })
}
