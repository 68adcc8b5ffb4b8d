/*
 * The OpenID provider of signing in here. A certified library does the protocol; this file owns how it is set up: that
 * a device is asked for at every sign-in, whatever the browser remembers; that tokens live as long as what was
 * granted; and that nothing but the base URL says where it is. OpenID Connect Core 1.0; RFC 7636, 9101, 9126.
 */
import { createHmac } from 'node:crypto'
import {
  interactionPolicy,
  Provider,
  type Account,
  type Configuration,
  type KoaContextWithOIDC,
} from 'oidc-provider'
import type { Foundation } from '../../changes/foundation.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { createGuardedFetch } from '../../platform/net/guarded-fetch.ts'
import type { Outbound } from '../../platform/net/outbound.ts'
import { isUuid } from '../../platform/ids.ts'
import {
  assertShortAssertion,
  assertShortRequest,
  CLIENT_SIGNATURES,
  CLOCK_TOLERANCE_SECONDS,
} from './client-signatures.ts'
import { findLivePersonId, findTokenSession } from './device-claims-read.ts'
import type { ProviderPages } from './provider-pages.ts'
import { createProviderStorage, SIGN_IN_SCOPES } from './provider-storage.ts'
import { ACR_OF, toSessionClaims } from './session-claims.ts'
import { listSignedOut, type SignedOutSession } from './list-signed-out.ts'
import type { SigningJwk } from './sign-in-keys.ts'

export interface ProviderDependencies extends Pick<Foundation, 'db' | 'clock' | 'sealer'> {
  readonly baseUrl: string
  readonly outbound: Pick<Outbound, 'client'>
  readonly pages: ProviderPages
  /** What signs cookies; the first signs, all verify. */
  readonly cookieKeys: readonly Buffer[]
  /** Ends what applications were granted. */
  readonly endSignedOut: (signedOut: readonly SignedOutSession[]) => Promise<void>
}

/** What an interaction came to, besides what the library knows. */
export interface DeviceResult {
  /** The granted session, which is the grant of its tokens. */
  readonly sessionId: string
  readonly sid: string
}

const CODE_SECONDS = MINUTE_MS / SECOND_MS
const TOKEN_SECONDS = (10 * MINUTE_MS) / SECOND_MS
const INTERACTION_SECONDS = (15 * MINUTE_MS) / SECOND_MS
/** What a browser is remembered for is signing out: nobody is let in by it, and whoever asks again is asked again. */
const BROWSER_SECONDS = DAY_MS / SECOND_MS
const REQUEST_SECONDS = MINUTE_MS / SECOND_MS
const COOKIE_PREFIX = 'heliograph-oidc'

/** How long what the provider makes is good, in seconds. */
const LIFETIMES = {
  AuthorizationCode: CODE_SECONDS,
  AccessToken: TOKEN_SECONDS,
  IdToken: TOKEN_SECONDS,
  Interaction: INTERACTION_SECONDS,
  PushedAuthorizationRequest: REQUEST_SECONDS,
  Grant: TOKEN_SECONDS,
  Session: (_context: unknown, { accountId }: { readonly accountId?: string | undefined }) =>
    accountId === undefined ? INTERACTION_SECONDS : BROWSER_SECONDS,
} as const

/** The paths of the provider below `/sign-in`. */
const ROUTES = {
  authorization: '/authorize',
  token: '/token',
  jwks: '/jwks',
  userinfo: '/userinfo',
  revocation: '/revocation',
  pushed_authorization_request: '/par',
  end_session: '/end_session',
} as const

/** Creates the provider. It keeps nothing between requests but what can be read again. */
export function createSignInProvider(
  dependencies: ProviderDependencies,
  keys: readonly SigningJwk[],
): Provider {
  const { baseUrl } = dependencies
  const provider = new Provider(`${baseUrl}/sign-in`, toConfiguration(dependencies, keys))
  // The address is that of the base URL: whoever mounts the provider says so in these headers.
  provider.proxy = true
  // Ends are told durably, by a job, with the same token.
  provider.Client.prototype['backchannelLogout'] = async () => undefined
  // Every session can be named, also by applications that are not told of ends.
  provider.Client.prototype['includeSid'] = () => true
  provider.use(async (context, next) => {
    await next()
    const signedOut = listSignedOut(context)
    if (signedOut.length > 0) await dependencies.endSignedOut(signedOut)
  })
  return provider
}

function toConfiguration(
  { db, clock, sealer, outbound, cookieKeys, baseUrl, pages }: ProviderDependencies,
  keys: readonly SigningJwk[],
): Configuration {
  const cookie = {
    httpOnly: true,
    sameSite: 'lax',
    signed: true,
    secure: baseUrl.startsWith('https:'),
  } as const
  return {
    adapter: (kind: string) => createProviderStorage(kind, { db, clock, sealer }),
    jwks: { keys: [...keys] },
    routes: ROUTES,
    scopes: [...SIGN_IN_SCOPES],
    responseTypes: ['code'],
    acrValues: Object.values(ACR_OF).filter((acr) => acr !== ACR_OF.none),
    claims: {
      openid: [
        ...[
          'sub',
          'acr',
          'amr',
          'auth_time',
          'device_id',
          'device_auth_state',
          'device_will_block_at',
          'device_serial',
        ],
        'device_context',
      ],
      email: ['email', 'email_verified'],
      profile: ['name', 'preferred_username'],
    },
    // Brokers read the person from the ID token alone.
    conformIdTokenClaims: false,
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
    enabledJWA: {
      idTokenSigningAlgValues: ['RS256'],
      requestObjectSigningAlgValues: [...CLIENT_SIGNATURES],
      clientAuthSigningAlgValues: [...CLIENT_SIGNATURES],
    },
    assertJwtClientAuthClaimsAndHeader: assertShortAssertion,
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    pkce: { required: (_context, client) => client.clientAuthMethod === 'none' },
    cookies: {
      keys: cookieKeys.map((key) => createHmac('sha256', key).update('cookies').digest()),
      names: {
        session: `${COOKIE_PREFIX}-session`,
        interaction: `${COOKIE_PREFIX}-interaction`,
        resume: `${COOKIE_PREFIX}-resume`,
      },
      long: cookie,
      short: cookie,
    },
    ttl: LIFETIMES,
    findAccount: async (_context, subject, token) => findAccount({ db, clock }, subject, token),
    loadExistingGrant: loadGrant,
    interactions: {
      policy: createPolicy(),
      url: (_context, interaction) => `${baseUrl}/sign-in/interaction/${interaction.uid}`,
    },
    renderError: async (context, { error, error_description: description }) =>
      isRefusedSignOut(context.oidc.route, error)
        ? pages.saySignOutFault(context, description ?? error)
        : pages.sayFault(context, description ?? error),
    clientBasedCORS: () => false,
    // The types of the library know one form of fetch; ours is that of fetch.
    fetch: createGuardedFetch(outbound.client) as unknown as NonNullable<Configuration['fetch']>,
    features: featuresOf(pages),
  }
}

/** Whom tokens are about: before there is a grant nothing is told, and of a session that has ended nothing any more. */
async function findAccount(
  { db, clock }: Pick<ProviderDependencies, 'db' | 'clock'>,
  subject: string,
  token: { readonly grantId?: unknown } | undefined,
): Promise<Account | undefined> {
  const grantId = token?.grantId
  if (typeof grantId !== 'string') {
    const personId = await findLivePersonId(db, subject)
    if (personId === undefined) return undefined
    return { accountId: personId, claims: async () => ({ sub: personId }) }
  }
  const session = isUuid(grantId) ? await findTokenSession(db, grantId, clock.now()) : undefined
  if (session?.personId !== subject) return undefined
  return { accountId: subject, claims: async () => ({ ...toSessionClaims(session), sub: subject }) }
}

/** What the provider can do, and what it cannot. */
function featuresOf(pages: ProviderPages): NonNullable<Configuration['features']> {
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    resourceIndicators: { enabled: false },
    pushedAuthorizationRequests: { enabled: true },
    requestObjects: { enabled: true, assertJwtClaimsAndHeader: assertShortRequest },
    claimsParameter: { enabled: true },
    revocation: { enabled: true },
    userinfo: { enabled: true },
    backchannelLogout: { enabled: true },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: async (context, form) => {
        const to = context.oidc.params?.['post_logout_redirect_uri']
        await pages.askToSignOut(context, form, {
          isOfOne: context.oidc.client !== undefined,
          leadsTo: typeof to === 'string' ? to : undefined,
        })
      },
      postLogoutSuccessSource: async (context) => pages.saySignedOut(context),
    },
  }
}

/** Who signs in is asked as the protocol says; the device always, and nobody for a consent. */
/** After a server error in its confirmation, and on the page after it, somebody may have been signed out. */
function isRefusedSignOut(route: string, error: string): boolean {
  return route === 'end_session' || (route === 'end_session_confirm' && error !== 'server_error')
}

function createPolicy(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base()
  policy.remove('consent')
  const check = new interactionPolicy.Check(
    'device_proof_required',
    'the device has to be proven',
    (context) =>
      resultOf(context) === undefined
        ? interactionPolicy.Check.REQUEST_PROMPT
        : interactionPolicy.Check.NO_NEED_TO_PROMPT,
  )
  policy.add(new interactionPolicy.Prompt({ name: 'device', requestable: false }, check))
  return policy
}

/** What the interaction that this request resumes came to: never that of an earlier one. */
function resultOf(context: KoaContextWithOIDC): DeviceResult | undefined {
  return (context.oidc.result as { readonly device?: DeviceResult } | undefined)?.device
}

/** The grant of a sign-in is what it granted; there is none before, and none of an earlier sign-in. */
async function loadGrant(context: KoaContextWithOIDC) {
  const result = resultOf(context)
  const { session, client, provider, account } = context.oidc
  if (result === undefined || session === undefined || client === undefined) return undefined
  const grant = new provider.Grant({
    accountId: account?.accountId ?? '',
    clientId: client.clientId,
  })
  grant.jti = result.sessionId
  grant.addOIDCScope(SIGN_IN_SCOPES.join(' '))
  await grant.save()
  session.sidFor(client.clientId, result.sid)
  return grant
}
