// An extension of SSF: a receiver asks that SETs of its stream be sent once more, as they were.
import { z } from 'zod'
import { parseWithSchema, type ParseResult } from '../parse-result.ts'
import { streamSequenceSchema } from './stream-sequence.ts'

/**
 * Validates the body of `POST {configuration_endpoint}/{stream_id}/replay`; exactly one member says
 * where the replay begins:
 *
 * - `from_sequence`: with this number;
 * - `from_jti`: after the SET with this `jti`, which is itself not sent; an unknown one is refused
 *   with 404;
 * - `from_time`: with the first SET whose `iat` is not before, in seconds since the epoch.
 *
 * It ends with the latest SET. What is sent again has the `jti` and, where the stream is numbered,
 * the number that it had, so that receivers which know a SET skip it.
 */
export const streamReplayRequestSchema = z
  .object({
    from_sequence: streamSequenceSchema.exactOptional(),
    from_jti: z.string().min(1).max(1024).exactOptional(),
    from_time: z.number().nonnegative().max(Number.MAX_SAFE_INTEGER).exactOptional(),
  })
  .refine(
    (body) => Object.keys(body).length === 1,
    'give one of from_sequence, from_jti and from_time',
  )

/** Where a replay begins. See {@link streamReplayRequestSchema}. */
export type StreamReplayRequest =
  | { readonly from_sequence: number }
  | { readonly from_jti: string }
  /** In seconds since the epoch. */
  | { readonly from_time: number }

/**
 * Validates the answer to a replay request, 202: what will be sent again by the delivery method of
 * the stream, in order.
 */
export const streamReplayAnswerSchema = z.looseObject({
  /** How many SETs are sent again. */
  queued: z.number().int().nonnegative(),
  /** The number of the first of them; null when there is none, or it is not numbered. */
  first_sequence: streamSequenceSchema.nullable(),
  /** The number of the last of them; null when there is none, or it is not numbered. */
  last_sequence: streamSequenceSchema.nullable(),
  /**
   * False when SETs that were asked for are no longer kept; only the state of the stream tells then
   * what they said.
   */
  complete: z.boolean(),
})

/** What a replay sends again. See {@link streamReplayAnswerSchema}. */
export interface StreamReplayAnswer {
  readonly queued: number
  readonly first_sequence: number | null
  readonly last_sequence: number | null
  /** False when SETs that were asked for are no longer kept. */
  readonly complete: boolean
}

/** Parses a replay request; unknown members are dropped. */
export function parseStreamReplayRequest(body: unknown): ParseResult<StreamReplayRequest> {
  return parseWithSchema(streamReplayRequestSchema as z.ZodType<StreamReplayRequest>, body)
}

/** Parses the answer to a replay request; unknown members are kept. */
export function parseStreamReplayAnswer(body: unknown): ParseResult<StreamReplayAnswer> {
  return parseWithSchema<StreamReplayAnswer>(streamReplayAnswerSchema, body)
}
