/*
 * The way of an attempt through an upstream provider. What both ends must know is derived from the secret of the
 * browser: nothing is stored, every process can end it, and no other browser can. It ends once, for the attempt stands
 * elsewhere afterwards.
 */
import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Foundation } from '../../changes/foundation.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { isEqualSecret } from '../../platform/secrets/keyed-digest.ts'
import {
  proveClaims,
  toAuthorizationUrl,
  type AuthorizationAnswer,
  type AuthorizationSecrets,
  type ProvenClaims,
} from '../../organisation/admin-oidc/provider-client.ts'
import {
  isUnreachable,
  type ProviderGateway,
} from '../../organisation/admin-oidc/provider-gateway.ts'
import type { SignInApplication } from '../applications/application-store.ts'
import type { HeldAttempt } from '../attempts/attempt-cookie-input.ts'
import { findAttemptPerson } from '../attempts/attempt-facts-read.ts'
import type { Attempt } from '../attempts/attempt-store.ts'
import { identifyPerson } from '../attempts/identify-person.ts'
import { refuseAttempt } from '../attempts/refuse-attempt.ts'
import type { RefusalCode } from '../attempts/refusals.ts'
import { getSignInPolicy } from '../policy/policy-store.ts'
import {
  readRemembered,
  writeRemembered,
  type RememberedCookieSite,
} from './remembered-person-input.ts'
import { getUpstream, toUpstreamAccess } from './upstream-store.ts'

export interface UpstreamSignInDependencies extends Pick<
  Foundation,
  'db' | 'runChange' | 'sealer' | 'log' | 'clock'
> {
  readonly remembering: RememberedCookieSite
  readonly gateway: ProviderGateway
}

/**
 * Where the browser goes to sign in upstream; undefined when the provider cannot be asked. That refuses the attempt, or
 * takes whom the browser remembers where the policy has that for an outage.
 */
export async function beginUpstream(
  dependencies: UpstreamSignInDependencies,
  held: HeldAttempt,
  { upstreamProviderId }: Pick<SignInApplication, 'upstreamProviderId'>,
  headers: IncomingHttpHeaders,
): Promise<string | undefined> {
  const { db, sealer, gateway, log } = dependencies
  try {
    const provider = await getUpstream(db, upstreamProviderId ?? '0')
    const config = await gateway.open(toUpstreamAccess(sealer, provider))
    const url = await toAuthorizationUrl(config, gateway.redirectUri, secretsOf(held), false)
    const asked = new URL(url)
    asked.searchParams.set('scope', provider.scopes.join(' '))
    if (held.attempt.loginHint !== null) {
      asked.searchParams.set('login_hint', held.attempt.loginHint)
    }
    return asked.href
  } catch (error) {
    log.warn({ err: error }, 'an upstream provider could not be asked')
    const isTaken =
      isUnreachable(error) &&
      (await takeRemembered(dependencies, held.attempt, upstreamProviderId ?? '0', headers))
    if (!isTaken) await refuse(dependencies, held.attempt.id, 'upstream_unreachable')
    return undefined
  }
}

/**
 * Goes on with whom the browser remembers, unless the application names somebody else. The provider has not spoken: the
 * person counts as not proven, so that nobody is created and no device is registered unseen.
 */
async function takeRemembered(
  dependencies: UpstreamSignInDependencies,
  attempt: Attempt,
  upstreamProviderId: string,
  headers: IncomingHttpHeaders,
): Promise<boolean> {
  const { db, runChange, clock, remembering } = dependencies
  const { upstreamOutage } = await getSignInPolicy(db)
  if (upstreamOutage !== 'remembered_person') return false
  const known = readRemembered(remembering, headers, upstreamProviderId, clock.now())
  const person = known && (await findAttemptPerson(db, known.personId))
  if (known === undefined || person === undefined) return false
  if (await isSomebodyElse(dependencies, attempt, person.email)) return false
  await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    await identifyPerson(change, attempt.id, { email: person.email, amr: [], isProven: false })
    change.recordAudit({
      action: 'sign_in.remembered_person_taken',
      target: { type: 'person', id: person.id },
      description: `took ${person.email} as the browser remembers, while the upstream provider cannot be reached`,
      after: {
        attempt_id: attempt.id,
        upstream_provider_id: upstreamProviderId,
        remembered_since: known.at.toISOString(),
      },
    })
  })
  return true
}

/** Says who signs in by what the upstream provider proves; what proves nothing refuses the attempt. */
export async function endUpstream(
  dependencies: UpstreamSignInDependencies,
  held: HeldAttempt,
  application: SignInApplication,
  answer: AuthorizationAnswer | undefined,
): Promise<Attempt> {
  const { db, runChange, sealer, gateway, log } = dependencies
  const { attempt } = held
  const secrets = secretsOf(held)
  if (answer === undefined || !isEqualSecret(answer.state, secrets.state)) {
    return refuse(dependencies, attempt.id, 'upstream_refused')
  }
  let claims: ProvenClaims
  try {
    const provider = await getUpstream(db, application.upstreamProviderId ?? '0')
    const config = await gateway.open(toUpstreamAccess(sealer, provider))
    claims = await proveClaims(config, gateway.redirectUri, secrets, answer)
  } catch (error) {
    log.warn({ err: error }, 'an upstream provider proved nobody')
    return refuse(dependencies, attempt.id, 'upstream_refused')
  }
  const email = emailOf(claims)
  if (email === undefined) return refuse(dependencies, attempt.id, 'upstream_refused')
  if (await isSomebodyElse(dependencies, attempt, email)) {
    return refuse(dependencies, attempt.id, 'upstream_person_mismatch')
  }
  const name = claims.all['name']
  return runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    identifyPerson(change, attempt.id, {
      email,
      name:
        typeof name === 'string' && name.trim() !== '' ? name.slice(0, NAME_LENGTH_MAX) : undefined,
      amr: amrOf(claims.all['amr']),
      isProven: true,
    }),
  )
}

const NAME_LENGTH_MAX = 200
const AMR_MAX = 10
const AMR_WORD = /^[a-z0-9_]{1,20}$/

/** An address that the provider does not say it has verified may be anybody's, where it says anything of it. */
function emailOf({ email, all }: ProvenClaims): string | undefined {
  return all['email_verified'] === false ? undefined : email
}

function amrOf(amr: unknown): string[] {
  const words = Array.isArray(amr) ? (amr as readonly unknown[]) : []
  return words
    .filter((word): word is string => typeof word === 'string' && AMR_WORD.test(word))
    .slice(0, AMR_MAX)
}

/** The person whom the application has named, where it has. */
async function isSomebodyElse(
  { db }: UpstreamSignInDependencies,
  { loginHint, personId }: Attempt,
  email: string,
): Promise<boolean> {
  const named = personId === null ? undefined : await findAttemptPerson(db, personId)
  const hint = named?.email ?? loginHint
  return hint?.includes('@') === true && hint.toLowerCase() !== email.toLowerCase()
}

async function refuse(
  { runChange }: UpstreamSignInDependencies,
  attemptId: string,
  code: RefusalCode,
): Promise<Attempt> {
  return runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    refuseAttempt(change, attemptId, code),
  )
}

/** The state begins with the id, which leads the answer to its attempt. */
function secretsOf({ attempt, secret }: HeldAttempt): AuthorizationSecrets {
  const derive = (purpose: string) =>
    createHmac('sha256', secret).update(`upstream ${purpose}`).digest('base64url')
  return {
    state: `${attempt.id}.${derive('state')}`,
    nonce: derive('nonce'),
    codeVerifier: derive('code verifier'),
  }
}

/** The attempt that the answer of an upstream provider belongs to. */
export function attemptOfState(state: string): string {
  return state.split('.')[0] ?? ''
}

/** The `Set-Cookie` header by which the browser of an attempt remembers whom its upstream provider has proven. */
export function rememberPerson(
  { clock, remembering }: Pick<UpstreamSignInDependencies, 'clock' | 'remembering'>,
  { personId }: Pick<Attempt, 'personId'>,
  { upstreamProviderId }: Pick<SignInApplication, 'upstreamProviderId'>,
): string[] {
  if (personId === null || upstreamProviderId === null) return []
  return [writeRemembered(remembering, { personId, upstreamProviderId, at: clock.now() })]
}
