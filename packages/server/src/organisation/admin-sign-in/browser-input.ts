/* What the routes of sign-in read of a request by a browser. */
import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { Foundation } from '../../changes/foundation.ts'
import { rateLimited } from '../../platform/http/rate-limit.ts'
import { addressBucket } from '../../platform/rate-limits/address-bucket.ts'
import { type RateLimiter } from '../../platform/rate-limits/rate-limiter.ts'
import { assertOwnPage, readSessionCookie } from '../../platform/http/session-cookie.ts'
import { authenticateSession, type AuthenticatedSession } from './authenticate-session.ts'
import type { ConsoleSite } from './console-site.ts'
import type { DeviceTrust } from './device-trust.ts'
import type { SigningInBrowser } from './sign-in.ts'
import type { AuthenticationResponseJSON, RegistrationResponseJSON, WebAuthn } from './webauthn.ts'

export interface SignInDependencies extends Pick<Foundation, 'db' | 'runChange'> {
  readonly site: ConsoleSite
  readonly rateLimiter: RateLimiter
  readonly webAuthn: WebAuthn
  readonly deviceTrust: DeviceTrust
}

/** Where the routes about the session of the browser stand in the reference. */
export const SESSION_TAGS = ['Console session']

/** Attempts of an address to sign in, in any 60 seconds, and how often it may begin one. */
const ATTEMPTS_PER_MINUTE = 60
/** Attempts to step a session up, in any 60 seconds. */
const STEP_UPS_PER_MINUTE = 20
/** Attempts to bind a session to a device, in any 60 seconds. */
const BINDINGS_PER_MINUTE = 20

/** Whoever tries to sign in does so from a page of the console, and not too often. */
export async function admitSignIn(
  { site, rateLimiter }: Pick<SignInDependencies, 'site' | 'rateLimiter'>,
  headers: IncomingHttpHeaders,
  address: string,
): Promise<void> {
  assertOwnPage({ method: 'POST', headers }, site)
  await takeAttempt(rateLimiter, `sign-in ${addressBucket(address)}`, ATTEMPTS_PER_MINUTE)
}

/** Whoever asks for what a sign-in begins with, which costs nothing, uses up nobody's attempts. */
export async function admitSignInOptions(
  { site, rateLimiter }: Pick<SignInDependencies, 'site' | 'rateLimiter'>,
  headers: IncomingHttpHeaders,
  address: string,
): Promise<void> {
  assertOwnPage({ method: 'POST', headers }, site)
  await takeAttempt(rateLimiter, `sign-in options ${addressBucket(address)}`, ATTEMPTS_PER_MINUTE)
}

/** A session steps up not too often, whatever others do from the same address. */
export async function admitStepUp(
  { rateLimiter }: Pick<SignInDependencies, 'rateLimiter'>,
  sessionId: string,
): Promise<void> {
  await takeAttempt(rateLimiter, `step-up ${sessionId}`, STEP_UPS_PER_MINUTE)
}

/** A session is bound to a device not too often either. */
export async function admitBinding(
  { rateLimiter }: Pick<SignInDependencies, 'rateLimiter'>,
  sessionId: string,
): Promise<void> {
  await takeAttempt(rateLimiter, `device of ${sessionId}`, BINDINGS_PER_MINUTE)
}

async function takeAttempt(
  rateLimiter: RateLimiter,
  bucket: string,
  perMinute: number,
): Promise<void> {
  const decision = await rateLimiter.take(bucket, perMinute)
  if (!decision.isAllowed) throw rateLimited(decision)
}

export function toBrowser(
  { cookie }: ConsoleSite,
  headers: IncomingHttpHeaders,
  address: string,
): SigningInBrowser {
  return {
    userAgent: headers['user-agent'],
    address,
    presentToken: readSessionCookie(headers, cookie),
  }
}

/**
 * The session that a request carries; routes that only sessions may call have one. Whether the request is a use of
 * it was decided where its caller was found.
 */
export async function readOwnSession(
  { db, site, deviceTrust }: Pick<SignInDependencies, 'db' | 'site' | 'deviceTrust'>,
  headers: IncomingHttpHeaders,
): Promise<AuthenticatedSession> {
  const token = readSessionCookie(headers, site.cookie) ?? ''
  return authenticateSession({ db, deviceTrust }, token, { isUse: false, isDeviceShown: true })
}

const BINARY_LENGTH_MAX = 65_536
const binary = z.string().max(BINARY_LENGTH_MAX)

/** What `navigator.credentials.get()` answers, as JSON; what is in it, WebAuthn checks. */
export const assertionSchema = z
  .custom<AuthenticationResponseJSON>(
    (value) =>
      credentialShape.safeParse(value).success &&
      z
        .looseObject({
          response: z.looseObject({
            clientDataJSON: binary,
            authenticatorData: binary,
            signature: binary,
            userHandle: binary.optional(),
          }),
        })
        .safeParse(value).success,
    'Must be what the browser answers, as JSON',
  )
  .meta({ type: 'object', description: '`PublicKeyCredential.toJSON()` of an assertion.' })

/** What `navigator.credentials.create()` answers, as JSON; what is in it, WebAuthn checks. */
export const attestationSchema = z
  .custom<RegistrationResponseJSON>(
    (value) =>
      credentialShape.safeParse(value).success &&
      z
        .looseObject({
          response: z.looseObject({
            clientDataJSON: binary,
            attestationObject: binary,
            transports: z.array(z.string().max(40)).max(10).optional(),
          }),
        })
        .safeParse(value).success,
    'Must be what the browser answers, as JSON',
  )
  .meta({ type: 'object', description: '`PublicKeyCredential.toJSON()` of a new passkey.' })

const credentialShape = z.looseObject({
  id: z.string().min(1).max(2_048),
  rawId: z.string().max(2_048),
  type: z.literal('public-key'),
  clientExtensionResults: z.record(z.string(), z.unknown()),
})
