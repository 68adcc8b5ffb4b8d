import { z } from 'zod'
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

/** The answer to a question for the tokens of a stream. */
export const tokenListSchema = z
  .object({
    stream_id: z.string().meta({ format: 'uuid' }),
    tokens: z.array(
      z.object({
        id: z.string(),
        last_four: z.string(),
        created_at: timestampSchema,
        expires_at: timestampSchema.nullable(),
        last_used_at: timestampSchema.nullable(),
      }),
    ),
  })
  .meta({ id: 'PollTokens', description: 'The poll tokens of a stream that are accepted.' })

/** What a rotation answers, over the API and on the command line. */
export function toRotatedJson(
  { stream, token, at, previousValidUntil }: RotatedPollToken,
  mode: PollTokenMode,
): z.input<typeof rotatedSchema> {
  return {
    stream_id: stream.streamId,
    mode,
    poll_bearer_token: token,
    created_at: token === null ? null : toTimestamp(at),
    previous_valid_until: previousValidUntil === null ? null : toTimestamp(previousValidUntil),
  }
}

/** A token without its secret. */
export function toTokenJson(token: PollToken) {
  return {
    id: token.id,
    last_four: token.secretLastFour,
    created_at: toTimestamp(token.createdAt),
    expires_at: token.expiresAt === null ? null : toTimestamp(token.expiresAt),
    last_used_at: token.lastUsedAt === null ? null : toTimestamp(token.lastUsedAt),
  }
}
