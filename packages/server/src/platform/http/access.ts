/*
 * Finds out who sends a request and whether they may. Owns the search through the credentials of a surface,
 * the rate limits of callers, and the checks that surfaces have in common.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../app-error.ts'
import type { AheadStatement, ReadAhead } from '../db/read-ahead.ts'
import { readBearerToken } from './bearer-token.ts'
import {
  permissionOf,
  type Admission,
  type Caller,
  type Credential,
  type Operation,
} from './operation.ts'
import { addressBucket } from '../rate-limits/address-bucket.ts'
import { rateLimited, writeRateLimitHeaders } from './rate-limit.ts'
import {
  callerBucket,
  type RateLimitDecision,
  type RateLimiter,
} from '../rate-limits/rate-limiter.ts'

/** How often callers may send requests. */
export interface CallerLimits {
  readonly rateLimiter: RateLimiter
  readonly limits: {
    /** Requests per caller in any 60 s. */
    readonly requestsPerMinute: number
    /** Requests per session of a person in any 60 s; as for other callers when it is left out. */
    readonly sessionRequestsPerMinute?: number
    /** Failed authentications per address in any 60 s. */
    readonly failedAuthenticationsPerMinute: number
  }
}

/** How callers are found and how often they may send requests. */
export interface CallerOptions<By extends Caller = Caller> extends CallerLimits {
  /** Tried in this order. The last one says what is missing when a request carries none. */
  readonly credentials: readonly Credential<By>[]
}

/** What is known of a request when its access is checked. */
export interface AccessRequest<By extends Caller = Caller> {
  /** Undefined on a public operation. */
  readonly caller: By | undefined
  /** The version that the request asks for; undefined on a surface without versions. */
  readonly version: string | undefined
  /** What was read for it meanwhile. */
  readonly ahead?: ReadAhead | undefined
  /** Whether it was let through before, and its access is looked at again while its answer lasts. */
  readonly isUnderWay?: boolean
}

/** A step between the caller and an operation: it lets the request through, or throws a refusal. */
export type AccessCheck<By extends Caller = Caller> = (
  operation: Operation<By>,
  request: AccessRequest<By>,
) => Promise<void> | void

/**
 * The credential of an `Authorization: Bearer` header; refuses a request without one. `authenticate` finds
 * the caller behind the secret, and throws AppError `unauthenticated` where there is none; `admit` does, and takes
 * a place of its rate limit.
 */
export function bearerCredential<By extends Caller>(
  authenticate: (secret: string) => Promise<By>,
  admit?: (secret: string, readAhead: () => AheadStatement | undefined) => Promise<Admission<By>>,
): Credential<By> {
  return {
    kind: 'token',
    find: async ({ headers }) => authenticate(readBearerToken(headers)),
    ...(admit && {
      admit: async ({ headers, readAhead }) => admit(readBearerToken(headers), readAhead),
    }),
  }
}

/** What of an operation counts where its caller is looked for. */
type CredentialOperation<By extends Caller> = Pick<
  Operation<By>,
  'access' | 'credentials' | 'stepUp' | 'opensWithoutDevice' | 'isUnattended' | 'readAhead'
>

/**
 * Finds the caller behind the credential of a request and counts the request against its rate limit.
 *
 * @throws AppError `unauthenticated`, `rate_limited`; `permission_missing` for another credential than a
 * session where only sessions are taken
 */
export async function identifyCaller<By extends Caller>(
  operation: CredentialOperation<By>,
  options: CallerOptions<By>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<{ readonly caller: By; readonly ahead: ReadAhead | undefined }> {
  const { caller, kind, decision, ahead } = await findCaller(operation, options, request, reply)
  if (decision === undefined) await takePlace(options, reply, ...placeOf(caller, options.limits))
  else obeyLimit(reply, decision)
  const { access } = operation
  if (access !== 'public' && 'session' in access && kind !== 'session') {
    const message = 'Only a person who is signed in can send this request.'
    throw new AppError('permission_missing', message)
  }
  return { caller, ahead }
}

/**
 * The caller of a request that is under way, looked for anew; nothing is counted.
 *
 * @throws AppError `unauthenticated` when the credential has ended meanwhile
 */
export async function findCallerAgain<By extends Caller>(
  operation: CredentialOperation<By>,
  options: CallerOptions<By>,
  request: FastifyRequest,
): Promise<By> {
  const { caller } = await tryCredentials(operation, options, request, true)
  return caller
}

/** Whether a caller holds what it held before, at the least. */
export function holdsAsMuch(now: Caller | undefined, before: Caller | undefined): boolean {
  if (before === undefined || now === undefined) return before === now
  const { permissions, session } = now
  if (![...before.permissions].every((permission) => permissions.has(permission))) return false
  if (session === undefined || before.session === undefined) return session === before.session
  const had = before.session.restrictions
  const isAsOpen = session.restrictions.every((restriction) => had.includes(restriction))
  return session.accessLevel === before.session.accessLevel && isAsOpen
}

interface FoundCaller<By> {
  readonly caller: By
  readonly kind: Credential['kind']
  /** Undefined where no place has been taken yet. */
  readonly decision: RateLimitDecision | undefined
  readonly ahead?: ReadAhead | undefined
}

async function tryCredentials<By extends Caller>(
  operation: CredentialOperation<By>,
  options: CallerOptions<By>,
  request: FastifyRequest,
  isFoundAgain: boolean,
): Promise<FoundCaller<By>> {
  const { access, credentials, stepUp, opensWithoutDevice } = operation
  const { method, headers, ip: address, log } = request
  const params = request.params as Readonly<Record<string, string>>
  const query = request.query as Readonly<Record<string, unknown>>
  const isUse = !isFoundAgain && !operation.isUnattended
  const asked = { access, stepUp, opensWithoutDevice, isUse }
  const readAhead = () => operation.readAhead?.({ params, query })
  const sent = { method, headers, params, query, address, log, readAhead, ...asked }
  for (const { kind, find, admit } of [...credentials, ...options.credentials]) {
    if (admit === undefined || isFoundAgain) {
      const caller = await find(sent)
      if (caller !== undefined) return { caller, kind, decision: undefined }
    } else {
      const admission = await admit(sent)
      if (admission !== undefined) return { ...admission, kind }
    }
  }
  throw new AppError('unauthenticated', 'The request carries no credential.')
}

async function findCaller<By extends Caller>(
  operation: CredentialOperation<By>,
  options: CallerOptions<By>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FoundCaller<By>> {
  try {
    return await tryCredentials(operation, options, request, false)
  } catch (error) {
    // Failures count after the look-up, and only failures are refused for them: an address is often a whole
    // office behind one gateway, or a proxy that is not configured as trusted, and one broken script must
    // not shut out the keys that work. Guessing gains nothing by it, with secrets of 192 bits and more.
    if (error instanceof AppError && error.kind === 'unauthenticated') {
      const { failedAuthenticationsPerMinute } = options.limits
      await takePlace(options, reply, addressBucket(request.ip), failedAuthenticationsPerMinute)
    }
    throw error
  }
}

/** People have several sessions at once, each with pages that ask by themselves. */
function placeOf(
  { kind, id, session }: Caller,
  { requestsPerMinute, sessionRequestsPerMinute = requestsPerMinute }: CallerLimits['limits'],
): [bucket: string, capacity: number] {
  return session === undefined
    ? [callerBucket(kind, id), requestsPerMinute]
    : [callerBucket('session', session.id), sessionRequestsPerMinute]
}

async function takePlace(
  { rateLimiter }: CallerLimits,
  reply: FastifyReply,
  bucket: string,
  capacity: number,
): Promise<void> {
  obeyLimit(reply, await rateLimiter.take(bucket, capacity))
}

function obeyLimit(reply: FastifyReply, decision: RateLimitDecision): void {
  writeRateLimitHeaders(reply, decision)
  if (!decision.isAllowed) throw rateLimited(decision)
}

/**
 * Refuses a caller who lacks the permission of an operation.
 *
 * @throws AppError `permission_missing`
 */
export const checkPermission: AccessCheck = (operation, { caller }) => {
  const permission = permissionOf(operation)
  if (permission === null || caller?.permissions.has(permission) === true) return
  const isKey = caller?.session === undefined
  const holder = isKey ? 'the key does not hold' : 'you do not have'
  throw new AppError(
    'permission_missing',
    `This request needs the permission "${permission}", which ${holder}.`,
    isKey ? { bearerError: 'insufficient_scope' } : {},
  )
}

/**
 * Refuses a session whose person has not proven to be there shortly before, where an operation asks for it. Who
 * was there when a request began need not be there until its answer ends.
 *
 * @throws AppError `step_up_required`
 */
export const checkStepUp: AccessCheck = ({ stepUp }, { caller, isUnderWay = false }) => {
  if (!stepUp || isUnderWay) return
  if (caller?.session === undefined || caller.session.steppedUpAt !== null) return
  throw new AppError('step_up_required', 'Prove that it is you, then send the request again.')
}
