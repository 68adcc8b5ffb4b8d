import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import type { PollToken } from './poll-token-store.ts'
import { POLL_TOKEN_MODES, type PollTokenMode, type RotatedPollToken } from './rotate-poll-token.ts'

/** The answer to a rotation. */
export const rotatedSchema = z
  .object({
    stream_id: z.string().meta({ format: 'uuid' }),
    mode: z.enum(POLL_TOKEN_MODES),
    poll_bearer_token: z.string().nullable().describe('Shown in this answer and never again.'),
    created_at: timestampSchema.nullable(),
    previous_valid_until: timestampSchema
      .nullable()
      .describe('Until when an older token is accepted; null when none is.'),
  })
  .meta({ id: 'IssuedPollToken', description: 'A poll token that has just been issued.' })

const tokenSchema = z.object({
  id: z.string(),
  last_four: z.string(),
  created_at: timestampSchema,
  expires_at: timestampSchema.nullable(),
  last_used_at: timestampSchema.nullable(),
})

/** The answer to a question for the tokens of a stream. */
export const tokenListSchema = z
  .object({
    stream_id: z.string().meta({ format: 'uuid' }),
    tokens: z.array(tokenSchema),
  })
  .meta({ id: 'PollTokens', description: 'The poll tokens of a stream that are accepted.' })

/** What a rotation answers, over the API and on the command line. */
export function toRotatedJson(rotated: RotatedPollToken, mode: PollTokenMode) {
  const { stream, token, at } = rotated
  return toWire(rotatedSchema, rotated, {
    stream_id: stream.streamId,
    mode,
    poll_bearer_token: token,
    created_at: token === null ? null : toTimestamp(at),
  })
}

/** A token without its secret. */
export function toTokenJson(token: PollToken) {
  return toWire(tokenSchema, token, { last_four: token.secretLastFour })
}
