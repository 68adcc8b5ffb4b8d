/*
 * What a request of an application would come to, field by field, before anybody signs in: what it sends is compared
 * with what is registered here. OpenID Connect Core 1.0 section 3.1.2.1; RFC 6749 section 4.1.1; RFC 7636 section 4.3.
 */
import type { SignInApplication } from '../application-store.ts'

/** What is looked at, by the name that the request gives it. */
export const REQUEST_FIELDS = [
  'enabled',
  'authorization_endpoint',
  'client_id',
  'client_secret',
  'redirect_uri',
  'response_type',
  'scope',
  'code_challenge',
  'code_challenge_method',
  'login_hint',
  'prompt',
  'claims',
] as const

/** What was found of a field. Texts are cut off after 200 characters. */
export interface RequestFinding {
  readonly field: (typeof REQUEST_FIELDS)[number]
  readonly fits: boolean
  readonly given: string | null
  readonly expected: string | null
  /** What somebody does about it; null where nothing needs to be done. */
  readonly remedy: string | null
}

interface JudgedApplication extends Pick<
  SignInApplication,
  'clientId' | 'mode' | 'upstreamProviderId' | 'tokenEndpointAuthMethod'
> {
  readonly redirectUris: readonly string[]
}

const GIVEN_LENGTH_MAX = 200

/** Judges the address to which an application sends browsers. Nothing is sent anywhere. */
export function judgeRequest(
  url: string,
  application: JudgedApplication,
  issuer: string,
): RequestFinding[] {
  const asked = new URL(url)
  const { searchParams: params } = asked
  const endpoint = `${issuer}/authorize`
  const findings = [
    judge('authorization_endpoint', `${asked.origin}${asked.pathname}`, [endpoint], {
      remedy: 'Let the application read the discovery document, or enter this address there.',
    }),
    judge('client_id', params.get('client_id'), [application.clientId], {
      remedy: 'Enter the client ID of this application there.',
    }),
  ]
  // What was pushed or signed is not to be seen in the address.
  if (params.has('request_uri') || params.has('request')) return findings
  return [
    ...findings,
    judge('redirect_uri', params.get('redirect_uri'), application.redirectUris, {
      remedy:
        'Add the given one to the redirect URIs here, or enter one of these there. Every letter counts.',
    }),
    judge('response_type', params.get('response_type'), ['code'], {
      remedy: 'Choose the authorization code flow there.',
    }),
    judgeScope(params.get('scope')),
    ...judgePkce(params, application),
    ...judgePerson(params, application),
    ...judgePrompt(params.get('prompt')),
    ...judgeClaims(params.get('claims')),
  ]
}

/** Says whether anybody can sign in to the application at all. */
export function judgeState({ isEnabled }: Pick<SignInApplication, 'isEnabled'>): RequestFinding[] {
  if (isEnabled) return []
  return [finding('enabled', false, 'false', 'true', 'Switch the application on.')]
}

/** Says whether a secret is that of the application; the secret itself is told nowhere. */
export function judgeSecret(isRight: boolean): RequestFinding {
  const remedy =
    'Copy the secret again without spaces around it, or rotate it and enter the new one.'
  return finding('client_secret', isRight, null, null, remedy)
}

function judgeScope(scope: string | null): RequestFinding {
  const hasOpenid = scope?.split(' ').includes('openid') === true
  return finding('scope', hasOpenid, scope, 'openid email profile', 'Ask for the scope openid.')
}

function judgePkce(
  params: URLSearchParams,
  { tokenEndpointAuthMethod }: JudgedApplication,
): RequestFinding[] {
  const challenge = params.get('code_challenge')
  if (challenge === null) {
    if (tokenEndpointAuthMethod !== 'none') return []
    const remedy = 'Switch on PKCE there: an application without a secret needs it.'
    return [finding('code_challenge', false, null, 'PKCE', remedy)]
  }
  return [
    judge('code_challenge_method', params.get('code_challenge_method'), ['S256'], {
      remedy: 'Choose S256 as the method of PKCE there.',
    }),
  ]
}

function judgePerson(
  params: URLSearchParams,
  { mode, upstreamProviderId }: JudgedApplication,
): RequestFinding[] {
  const hint = params.get('login_hint')
  const isNamed = hint?.includes('@') === true || params.has('id_token_hint')
  if (mode === 'broker' || (hint === null && upstreamProviderId !== null)) return []
  const remedy =
    'Send the e-mail address of the person as login_hint, or choose an upstream provider for this application.'
  return [finding('login_hint', isNamed, hint, 'an e-mail address', remedy)]
}

function judgePrompt(prompt: string | null): RequestFinding[] {
  if (prompt?.split(' ').includes('none') !== true) return []
  const remedy = 'Leave prompt out: a device is asked for at each sign-in, which needs the browser.'
  return [finding('prompt', false, prompt, null, remedy)]
}

function judgeClaims(claims: string | null): RequestFinding[] {
  if (claims === null) return []
  const isObject = isJsonObject(claims)
  return [finding('claims', isObject, claims, 'a JSON object', 'Send a JSON object, or none.')]
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

function judge(
  field: RequestFinding['field'],
  given: string | null,
  allowed: readonly string[],
  { remedy }: { readonly remedy: string },
): RequestFinding {
  const isFit = given !== null && allowed.includes(given)
  return finding(field, isFit, given, allowed.join(' '), remedy)
}

function finding(
  field: RequestFinding['field'],
  fits: boolean,
  given: string | null,
  expected: string | null,
  remedy: string,
): RequestFinding {
  const shown = given === null ? null : given.slice(0, GIVEN_LENGTH_MAX)
  return { field, fits, given: shown, expected, remedy: fits ? null : remedy }
}
