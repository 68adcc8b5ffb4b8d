import type { SecurityEvent } from './security-event.ts'
import { layOutSubject, type SetLayout } from './set-layout.ts'
import type { SubjectIdentifier } from './subject-identifier.ts'

/** The value of the `typ` header of a SET. RFC 8417 section 2.3, SSF 1.0 section 4.1.1. */
export const SET_TYP = 'secevent+jwt'

/** The claims of a SET as they are signed. RFC 8417 section 2.2, SSF 1.0 section 4. */
export interface SetClaims {
  readonly iss: string
  readonly aud?: string | readonly string[]
  readonly jti: string
  /** Issue time in whole seconds since the epoch, rounded down. */
  readonly iat: number
  /** Shared by all SETs that come from one cause. */
  readonly txn?: string
  readonly sub_id?: SubjectIdentifier
  readonly events: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly [claim: string]: unknown
}

/** What the claims of a SET are built from. */
export interface SetInput {
  readonly iss: string
  readonly aud: string | readonly string[]
  readonly jti: string
  /** Issue time in milliseconds since the epoch; the claim is rounded down to seconds. */
  readonly issuedAtMs: number
  readonly txn?: string
  readonly layout: SetLayout
  readonly subject: SubjectIdentifier
  readonly event: { readonly type: string; readonly payload: object }
  /** Further claims; none may be one that this function writes or that a SET must not have. */
  readonly extraClaims?: Readonly<Record<string, unknown>>
}

const RESERVED_CLAIMS = new Set([
  'iss',
  'aud',
  'jti',
  'iat',
  'txn',
  'sub_id',
  'events',
  'sub',
  'exp',
])

/**
 * Builds the claims of a SET with exactly one event, a subject, and neither `sub` nor `exp`
 * (SSF 1.0 sections 4.1.2, 4.1.7 and 4.2.1). The same input gives the same claims in the same order.
 *
 * @throws RangeError when an extra claim is reserved or the issue time is not a time.
 */
export function buildSetClaims(input: SetInput): SetClaims {
  const reserved = Object.keys(input.extraClaims ?? {}).find((name) => RESERVED_CLAIMS.has(name))
  if (reserved !== undefined) throw new RangeError(`the claim ${reserved} is reserved`)
  if (!Number.isFinite(input.issuedAtMs) || input.issuedAtMs < 0) {
    throw new RangeError('issuedAtMs is in milliseconds since the epoch')
  }
  return {
    iss: input.iss,
    aud: input.aud,
    jti: input.jti,
    iat: Math.floor(input.issuedAtMs / 1000),
    ...(input.txn === undefined ? {} : { txn: input.txn }),
    ...input.extraClaims,
    ...layOutSubject(input.layout, input.subject, input.event),
  }
}

/** A SET whose claims passed every check of {@link parseSetClaims}. */
export interface SecurityEventToken {
  readonly iss: string
  /** Empty when the claim is absent. */
  readonly aud: readonly string[]
  readonly jti: string
  /** In seconds since the epoch. */
  readonly iat: number
  readonly txn?: string
  readonly subject: SubjectIdentifier
  /** Where the subject stood: at the top (`sub_id`) or inside the event. */
  readonly subjectPlace: 'sub_id' | 'event'
  readonly event: SecurityEvent
  /** All claims as they were signed, unknown ones included. */
  readonly claims: Readonly<Record<string, unknown>>
}
