/* What a guide of the wizard is: what it asks for, and its steps at the other side. */
import type {
  CreateSignInApplicationInput,
  SignInApplication,
} from '../../api/generated/types.gen.ts'

/** What the steps of a guide are written with. */
export interface GuideFacts {
  readonly application: SignInApplication
  /** Shown once, after it was issued; null where there is none to be shown. */
  readonly secret: string | null
}

export interface GuideValue {
  /** What the other side calls it. */
  readonly label: string
  readonly value: string
  readonly isSecret?: true
}

export interface GuideStep {
  readonly title: string
  readonly text: string
  readonly values?: readonly GuideValue[]
  /** A piece of configuration to copy. */
  readonly code?: { readonly name: string; readonly value: string }
}

/** What is asked before the application exists. */
interface AskedText {
  readonly label: string
  readonly help: string
  readonly placeholder: string
  /** The redirect URI, of what was typed. */
  readonly toRedirectUri: (text: string) => string
}

export interface Guide {
  readonly id: string
  readonly name: string
  /** What it does for whom, in one sentence. */
  readonly lead: string
  /** What is needed before, and what it costs. */
  readonly before: string
  readonly kind: SignInApplication['kind']
  readonly mode: SignInApplication['mode']
  readonly values?: Pick<
    CreateSignInApplicationInput,
    'claims_profile' | 'token_endpoint_auth_method'
  >
  /** How its redirect URI is found; undefined where it has none. */
  readonly redirect?: AskedText
  readonly steps: (facts: GuideFacts) => readonly GuideStep[]
  /** What the application is told after a sign-in. */
  readonly comesBack: string
}

/** The addresses of the OpenID provider, of its issuer. */
export function endpointsOf({ issuer }: Pick<SignInApplication, 'issuer'>) {
  return {
    discovery: `${issuer}/.well-known/openid-configuration`,
    authorize: `${issuer}/authorize`,
    token: `${issuer}/token`,
    jwks: `${issuer}/jwks`,
    userinfo: `${issuer}/userinfo`,
    endSession: `${issuer}/end_session`,
  }
}

/** Client id and secret under the names of the other side. */
export function credentials(
  { application, secret }: GuideFacts,
  id = 'Client ID',
  secretLabel = 'Client secret',
): GuideValue[] {
  return [
    { label: id, value: application.client_id },
    ...(secret === null ? [] : [{ label: secretLabel, value: secret, isSecret: true } as const]),
  ]
}

/** The text with a scheme and without what follows the host. */
export function toOrigin(text: string): string {
  const trimmed = text.trim()
  const address = /^[a-z]+:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`
  return URL.canParse(address) ? new URL(address).origin : trimmed
}

/** The text without a slash at its end. */
export function trimEnd(text: string): string {
  return text.trim().replace(/\/+$/, '')
}
