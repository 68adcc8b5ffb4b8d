import { z } from 'zod'

/** Longest `state` that is accepted, in characters. */
export const VERIFICATION_STATE_LENGTH_MAX = 1024

const stateSchema = z.string().max(VERIFICATION_STATE_LENGTH_MAX)

/** Payload of a verification event; an unsolicited one has no `state`. SSF 1.0 section 8.1.4.1. */
export interface Verification {
  readonly state?: string
}

/** Validates a verification payload. A `state` of null, which some transmitters send, is absent. */
export const verificationSchema = z
  .looseObject({ state: stateSchema.nullish() })
  .transform(({ state, ...members }) =>
    typeof state === 'string' ? { ...members, state } : members,
  )

/**
 * Builds the payload of a verification event: the receiver's `state` exactly as it came, or no
 * member at all when the transmitter sends it unasked. SSF 1.0 section 8.1.4.2.
 */
export function buildVerification(state?: string): Verification {
  return state === undefined ? {} : { state }
}

/** Body of a verification request. SSF 1.0 section 8.1.4.2. */
export interface VerificationRequest {
  readonly stream_id: string
  readonly state?: string
}

/** Validates the body of a verification request; unknown members are dropped. */
export const verificationRequestSchema = z
  .object({ stream_id: z.string().min(1).max(256), state: stateSchema.nullish() })
  .transform(({ stream_id, state }): VerificationRequest =>
    typeof state === 'string' ? { stream_id, state } : { stream_id },
  )
