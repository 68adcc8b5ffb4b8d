// An extension of SSF: the SETs of a stream are numbered, so that a receiver sees that one is
// missing, which RFC 8417 section 5.2 leaves open. Receivers that do not know the claim ignore it
// (SSF 1.0 section 4.2.3).
import { z } from 'zod'

/**
 * Claim of a SET that numbers the SETs of its stream, and member of a stream configuration that
 * turns the numbering on.
 */
export const STREAM_SEQUENCE = 'heliograph_sequence'

/**
 * Validates the claim {@link STREAM_SEQUENCE}: 1 for the first numbered SET of a stream, one more
 * for each further one, in the order in which the changes were committed. A SET that is sent again
 * keeps its number; a number whose SET was dropped is never given again.
 */
export const streamSequenceSchema = z.number().int().positive().max(Number.MAX_SAFE_INTEGER)

/**
 * Members that a receiver may add to the body of a create, update or replace request, and that the
 * transmitter repeats in the stream configuration. Absent means off.
 */
export const streamExtensionMembersSchema = z.looseObject({
  heliograph_sequence: z.boolean().exactOptional(),
})

/** Members of a stream configuration beyond SSF 1.0. */
export interface StreamExtensionMembers {
  /** Whether the SETs of the stream carry the claim {@link STREAM_SEQUENCE}. */
  readonly heliograph_sequence?: boolean
}

/** Reads the number of a SET from its claims; undefined when it has none or no valid one. */
export function readStreamSequence(claims: Readonly<Record<string, unknown>>): number | undefined {
  const parsed = streamSequenceSchema.safeParse(claims[STREAM_SEQUENCE])
  return parsed.success ? parsed.data : undefined
}
