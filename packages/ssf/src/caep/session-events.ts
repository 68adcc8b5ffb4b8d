import { z } from 'zod'
import { caepPayload, type CaepCommonMembers } from './common-members.ts'
import { withWholeSeconds } from './whole-seconds.ts'

/** Payload of a session-revoked event. CAEP 1.0 section 3.1. */
export type SessionRevoked = CaepCommonMembers

/** Validates a session-revoked payload; unknown members are kept. */
export const sessionRevokedSchema = caepPayload({})

/**
 * Builds the payload of a session-revoked event; `event_timestamp` is rounded down to whole seconds. CAEP 1.0
 * section 3.1.
 *
 * @throws RangeError when the timestamp cannot be seconds.
 */
export function buildSessionRevoked(input: SessionRevoked): SessionRevoked {
  return withWholeSeconds(input)
}

/** Payload of a session-presented event. CAEP 1.0 section 3.7. */
export interface SessionPresented extends CaepCommonMembers {
  /** Fingerprint of the user agent, as the transmitter computes it. */
  readonly fp_ua?: string
  /** Identifier that joins sessions over several systems. */
  readonly ext_id?: string
}

const presentedShape = {
  fp_ua: z.string().exactOptional(),
  ext_id: z.string().exactOptional(),
} as const

/** Validates a session-presented payload; unknown members are kept. */
export const sessionPresentedSchema = caepPayload(presentedShape)

/** Payload of a session-established event. CAEP 1.0 section 3.6. */
export interface SessionEstablished extends SessionPresented {
  readonly acr?: string
  readonly amr?: readonly string[]
}

/** Validates a session-established payload; unknown members are kept, a bare `amr` is one entry. */
export const sessionEstablishedSchema = caepPayload({
  ...presentedShape,
  acr: z.string().exactOptional(),
  amr: z.union([z.array(z.string()), z.string().transform((method) => [method])]).exactOptional(),
})
