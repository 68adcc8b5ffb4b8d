// Validation of the header and claims of a SET (RFC 8417, SSF 1.0 section 4). The signature is not
// checked here: whoever calls this has checked it or wants a diagnosis only.
import { describeIssues, issuesWithin } from './parse-result.ts'
import { parseSecurityEvent, type SecurityEvent } from './security-event.ts'
import { SET_TYP, type SecurityEventToken } from './set-claims.ts'
import { parseSubjectIdentifier, type SubjectIdentifier } from './subject-identifier.ts'

/** What a SET is checked for, in this order; also the code of the check that failed. */
export const SET_CHECKS = [
  'typ',
  'iss',
  'aud',
  'jti',
  'iat',
  'exp',
  'sub',
  'events',
  'event',
  'subject',
] as const

/** Code of a failed check; `claims` when the payload is not a JSON object at all. */
export type SetValidationCode = (typeof SET_CHECKS)[number] | 'claims'

/** What the receiver of a SET expects of it. */
export interface SetExpectations {
  /** The stream's issuer; compared exactly. */
  readonly issuer: string
  /** Accepted audiences: one of them must be in `aud`. Undefined accepts any, and none. */
  readonly audience?: string | readonly string[]
  /** Now, in milliseconds since the epoch. */
  readonly nowMs: number
  /** How far `iat` may lie in the future. */
  readonly clockToleranceSeconds: number
}

/** The outcome of one check; `description` says what was found and is safe to answer with. */
export interface SetCheckResult {
  readonly code: SetValidationCode
  readonly ok: boolean
  readonly description: string
}

/** The outcome of validating a SET. */
export type SetParseResult =
  | { readonly ok: true; readonly set: SecurityEventToken }
  | { readonly ok: false; readonly code: SetValidationCode; readonly description: string }

type Claims = Readonly<Record<string, unknown>>

interface SetUnderCheck {
  readonly typ: unknown
  readonly claims: Claims
  readonly expectations: SetExpectations
}

/** Answers what is wrong, or undefined. */
type SetCheck = (set: SetUnderCheck) => string | undefined

const IDENTIFIER_LENGTH_MAX = 1024

const CHECKS: Record<(typeof SET_CHECKS)[number], SetCheck> = {
  typ: ({ typ }) => (isSetTyp(typ) ? undefined : `the typ header must be ${SET_TYP}`),
  iss: ({ claims, expectations }) =>
    claims['iss'] === expectations.issuer ? undefined : 'iss is not the issuer of this stream',
  aud: checkAudience,
  jti: ({ claims }) => (isIdentifier(claims['jti']) ? undefined : 'jti must be a non-empty string'),
  iat: checkIssueTime,
  exp: ({ claims }) => ('exp' in claims ? 'a SET must not have an exp claim' : undefined),
  sub: ({ claims }) => ('sub' in claims ? 'a SET must not have a sub claim' : undefined),
  events: ({ claims }) => {
    const single = findSingleEvent(claims)
    return 'problem' in single ? single.problem : undefined
  },
  event: ({ claims }) => {
    const parsed = readEvent(claims)
    return 'problem' in parsed ? parsed.problem : undefined
  },
  subject: ({ claims }) => {
    const found = readSubject(claims)
    return 'problem' in found ? found.problem : undefined
  },
}

/**
 * Runs every check and answers all outcomes in the order of {@link SET_CHECKS}; for diagnosis. A
 * payload that is no object gives the single outcome `claims`.
 */
export function checkSetClaims(
  header: { readonly typ?: unknown },
  payload: unknown,
  expectations: SetExpectations,
): readonly SetCheckResult[] {
  if (!isObject(payload)) {
    return [{ code: 'claims', ok: false, description: 'the claims must be a JSON object' }]
  }
  const set = { typ: header.typ, claims: payload, expectations }
  return SET_CHECKS.map((code) => {
    const problem = CHECKS[code](set)
    return { code, ok: problem === undefined, description: problem ?? 'passed' }
  })
}

/**
 * Validates header and claims of a SET: `typ`, issuer, audience, `jti`, `iat` not in the future, no
 * `exp`, no `sub`, exactly one event that conforms to its type, and a subject, at the top or inside
 * the event. Answers the first failure. RFC 8417 section 2, SSF 1.0 section 4.
 */
export function parseSetClaims(
  header: { readonly typ?: unknown },
  payload: unknown,
  expectations: SetExpectations,
): SetParseResult {
  const failed = checkSetClaims(header, payload, expectations).find((result) => !result.ok)
  if (failed !== undefined) {
    return { ok: false, code: failed.code, description: failed.description }
  }
  const claims = payload as Claims
  const event = readEvent(claims)
  const found = readSubject(claims)
  if ('problem' in event) return { ok: false, code: 'event', description: event.problem }
  if ('problem' in found) return { ok: false, code: 'subject', description: found.problem }
  const txn = claims['txn']
  return {
    ok: true,
    set: {
      iss: expectations.issuer,
      aud: audiencesOf(claims['aud']) ?? [],
      jti: claims['jti'] as string,
      iat: claims['iat'] as number,
      ...(typeof txn === 'string' || typeof txn === 'number' ? { txn: String(txn) } : {}),
      subject: found.subject,
      subjectPlace: found.place,
      event: event.event,
      claims,
    },
  }
}

/** Compares as media types are compared; the prefix may be there (RFC 7515 section 4.1.9). */
function isSetTyp(typ: unknown): boolean {
  if (typeof typ !== 'string') return false
  const name = typ.toLowerCase()
  return name === SET_TYP || name === `application/${SET_TYP}`
}

function checkAudience({ claims, expectations }: SetUnderCheck): string | undefined {
  const present = audiencesOf(claims['aud'])
  if (present === undefined) return 'aud must be a string or an array of strings'
  if (expectations.audience === undefined) return undefined
  const accepted =
    typeof expectations.audience === 'string' ? [expectations.audience] : expectations.audience
  return present.some((audience) => accepted.includes(audience))
    ? undefined
    : 'aud does not name this receiver'
}

function checkIssueTime({ claims, expectations }: SetUnderCheck): string | undefined {
  const iat = claims['iat']
  if (typeof iat !== 'number' || !Number.isFinite(iat) || iat < 0) {
    return 'iat must be a time in seconds'
  }
  const latest = expectations.nowMs / 1000 + expectations.clockToleranceSeconds
  return iat > latest ? 'iat lies in the future' : undefined
}

function audiencesOf(aud: unknown): readonly string[] | undefined {
  if (aud === undefined) return []
  if (typeof aud === 'string') return [aud]
  if (!Array.isArray(aud)) return undefined
  const entries: readonly unknown[] = aud
  return entries.every((entry) => typeof entry === 'string') ? entries : undefined
}

function findSingleEvent(claims: Claims): { type: string; payload: Claims } | { problem: string } {
  const events = claims['events']
  if (!isObject(events)) return { problem: 'events must be an object' }
  const entries = Object.entries(events)
  const first = entries[0]
  if (first === undefined || entries.length > 1) {
    return { problem: 'events must hold exactly one event' }
  }
  const [type, payload] = first
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:\S+$/.test(type)) {
    return { problem: 'the event type must be an absolute URI' }
  }
  return isObject(payload) ? { type, payload } : { problem: 'the event must be an object' }
}

function readEvent(claims: Claims): { event: SecurityEvent } | { problem: string } {
  const single = findSingleEvent(claims)
  if ('problem' in single) return single
  const parsed = parseSecurityEvent(single.type, single.payload)
  return parsed.ok ? { event: parsed.value } : { problem: describeIssues(parsed.issues) }
}

function readSubject(
  claims: Claims,
): { subject: SubjectIdentifier; place: 'sub_id' | 'event' } | { problem: string } {
  const place = claims['sub_id'] === undefined ? 'event' : 'sub_id'
  const single = findSingleEvent(claims)
  const inner = 'problem' in single ? undefined : single.payload['subject']
  const candidate = place === 'sub_id' ? claims['sub_id'] : inner
  if (candidate === undefined) return { problem: 'the SET names no subject' }
  const parsed = parseSubjectIdentifier(candidate)
  if (!parsed.ok) {
    const name = place === 'sub_id' ? 'sub_id' : 'subject'
    return { problem: describeIssues(issuesWithin(name, parsed.issues)) }
  }
  return { subject: parsed.value, place }
}

function isIdentifier(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= IDENTIFIER_LENGTH_MAX
}

function isObject(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
