/*
 * A sign-in at the provider that has begun. It travels in a cookie of the browser that began it, sealed: whoever
 * begins sign-ins fills no table, every process can end them, and no other browser can. That it is used once is
 * kept where it ends.
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { MINUTE_MS, SECOND_MS, type Clock } from '../../platform/clock.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { newSecret } from '../../platform/ids.ts'
import type { ConsoleSite } from '../admin-sign-in/console-site.ts'
import { signInFailed } from '../admin-sign-in/sign-in.ts'

/** For as long as somebody takes to sign in at a provider. */
export const ATTEMPT_LIFETIME_MS = 5 * MINUTE_MS
const SECRET_BYTES = 32
const CONTEXT = {
  table: 'admin_identity_provider',
  column: 'cookie',
  id: 'sign-in attempt',
} as const

const attemptSchema = z.object({
  purpose: z.enum(['sign_in', 'step_up', 'connect']),
  /** Of whoever is signed in; null for a sign-in. */
  sessionId: z.string().nullable(),
  providerId: z.string(),
  issuer: z.string(),
  clientId: z.string(),
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  startedAt: z.number().describe('Milliseconds since 1970.'),
})

export type SignInAttempt = z.output<typeof attemptSchema>
export type AttemptPurpose = SignInAttempt['purpose']

/** Begins an attempt. */
export function newAttempt(
  facts: Pick<SignInAttempt, 'purpose' | 'sessionId' | 'providerId' | 'issuer' | 'clientId'>,
  clock: Clock,
): SignInAttempt {
  return {
    ...facts,
    state: newSecret(SECRET_BYTES),
    nonce: newSecret(SECRET_BYTES),
    codeVerifier: newSecret(SECRET_BYTES),
    startedAt: clock.now().getTime(),
  }
}

/** The cookie of attempts, which no script can read and no other host can set. */
export function attemptCookie({ cookie }: Pick<ConsoleSite, 'cookie'>) {
  return { ...cookie, name: `${cookie.name}_provider` }
}

export const ATTEMPT_COOKIE_SECONDS = ATTEMPT_LIFETIME_MS / SECOND_MS

export function sealAttempt(sealer: Sealer, attempt: SignInAttempt): string {
  return sealer.seal(JSON.stringify(attempt), CONTEXT).toString('base64url')
}

/**
 * The attempt of a cookie, for the state that the provider has sent back.
 *
 * @throws AppError `sign_in_failed` when this browser has begun none, another one, or one too long ago
 */
export function openAttempt(
  { sealer, clock }: { readonly sealer: Sealer; readonly clock: Clock },
  cookie: string | undefined,
  state: string,
): SignInAttempt {
  const attempt = cookie === undefined ? undefined : tryOpen(sealer, cookie)
  const ageMs = attempt === undefined ? Infinity : clock.now().getTime() - attempt.startedAt
  if (attempt?.state !== state || ageMs > ATTEMPT_LIFETIME_MS) {
    throw signInFailed(
      'This browser has not begun this sign-in, or more than five minutes ago. Begin again.',
    )
  }
  return attempt
}

function tryOpen(sealer: Sealer, cookie: string): SignInAttempt | undefined {
  try {
    const text = sealer.openText(Buffer.from(cookie, 'base64url'), CONTEXT)
    return attemptSchema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** By what it is known that an attempt was used. */
export function hashAttempt({ state }: SignInAttempt): Buffer {
  return createHash('sha256').update(`provider ${state}`).digest()
}
