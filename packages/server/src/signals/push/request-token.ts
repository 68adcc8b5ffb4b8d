import { z } from 'zod'
import { SECOND_MS } from '../../platform/clock.ts'
import type { GuardedClient, OutboundRequest } from '../../platform/net/guarded-client.ts'
import type { OutboundResult } from '../../platform/net/outbound-result.ts'
import { createSentSecretsMask } from '../../platform/net/sent-secrets.ts'
import type { SecretMask } from '../../platform/secrets/mask-secrets.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import type { SignAssertion } from './client-assertion.ts'
import type { OAuthCredential } from './push-credential.ts'

/** What a token endpoint answered. */
export type TokenAnswer =
  | { readonly kind: 'token'; readonly value: string; readonly lifetimeMs: number }
  /** `message` is a sentence that may be shown. */
  | { readonly kind: 'refused'; readonly message: string; readonly isClientUnknown: boolean }

export interface TokenRequestDependencies {
  readonly client: Pick<GuardedClient, 'request'>
  readonly signAssertion: SignAssertion
}

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const TIMEOUT_MS = 10 * SECOND_MS
/** Where the endpoint does not say how long its tokens are valid. RFC 6749 section 5.1. */
const LIFETIME_UNSAID_MS = 300 * SECOND_MS
const LIFETIME_MAX_SECONDS = 86_400
const WORDS_LENGTH_MAX = 200

/**
 * RFC 6749 section 5.1; the type is compared without regard to case (section 7.1). A lifetime that is none counts as
 * not said: the receiver refuses the token when it has ended.
 */
const tokenSchema = z.looseObject({
  access_token: z.string().regex(/^[\x21-\x7e]{1,8192}$/),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.coerce.number().positive().optional().catch(undefined),
})

const refusalSchema = z.looseObject({
  error: z.string(),
  error_description: z.string().optional(),
})

/**
 * Asks a token endpoint for an access token by client credentials (RFC 6749 section 4.4). When it does
 * not know the client, the older secret of the overlap is tried. Never rejects.
 */
export async function requestToken(
  credential: OAuthCredential,
  timeoutMs: number,
  { client, signAssertion }: TokenRequestDependencies,
): Promise<TokenAnswer> {
  const secrets = credential.method === 'private_key_jwt' ? [undefined] : credential.secrets
  let answer: TokenAnswer = {
    kind: 'refused',
    message: 'There is no client secret',
    isClientUnknown: false,
  }
  for (const secret of secrets) {
    const assertion =
      credential.method === 'private_key_jwt'
        ? await signAssertion(credential.clientId, credential.tokenEndpoint)
        : undefined
    const totalMs = Math.max(1, Math.min(timeoutMs, TIMEOUT_MS))
    const request = toTokenRequest(credential, { secret, assertion })
    const result = await client.request({ ...request, timeouts: { totalMs } })
    answer = readAnswer(result, createSentSecretsMask(request))
    if (answer.kind === 'token' || !answer.isClientUnknown) return answer
  }
  return answer
}

function toTokenRequest(
  { tokenEndpoint, clientId, scope, method, tls }: OAuthCredential,
  {
    secret,
    assertion,
  }: { readonly secret?: string | undefined; readonly assertion?: string | undefined },
): OutboundRequest {
  const form = new URLSearchParams({ grant_type: 'client_credentials' })
  if (scope !== null) form.set('scope', scope)
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  }
  switch (method) {
    case 'client_secret_basic':
      headers['authorization'] = `Basic ${toBasic(clientId, secret ?? '')}`
      break
    case 'client_secret_post':
      form.set('client_id', clientId)
      form.set('client_secret', secret ?? '')
      break
    case 'private_key_jwt':
      form.set('client_id', clientId)
      form.set('client_assertion_type', ASSERTION_TYPE)
      form.set('client_assertion', assertion ?? '')
  }
  return {
    url: tokenEndpoint,
    method: 'POST',
    headers,
    body: form.toString(),
    secrets: [secret, assertion].filter((one) => one !== undefined),
    isAnswerConfidential: true,
    tls,
  }
}

/** Both parts are form-encoded before they are joined. RFC 6749 section 2.3.1. */
function toBasic(clientId: string, secret: string): string {
  const encode = (text: string): string => new URLSearchParams({ v: text }).toString().slice(2)
  return Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString('base64')
}

function readAnswer(result: OutboundResult, mask: SecretMask): TokenAnswer {
  if (result.kind === 'failed') {
    return refused(`The token endpoint could not be asked: ${result.message}`)
  }
  const body = parseJson(result.body.toString('utf8'))
  if (result.status >= 200 && result.status < 300) {
    const token = tokenSchema.safeParse(body)
    if (!token.success) return refused('The token endpoint answered without a bearer token')
    const { access_token: value, expires_in: seconds } = token.data
    const lifetimeMs =
      seconds === undefined
        ? LIFETIME_UNSAID_MS
        : Math.min(seconds, LIFETIME_MAX_SECONDS) * SECOND_MS
    return { kind: 'token', value, lifetimeMs }
  }
  const refusal = refusalSchema.safeParse(body)
  const words = refusal.success ? ` (${wordsOf(refusal.data, mask)})` : ''
  const isClientUnknown =
    result.status === 401 || (refusal.success && refusal.data.error === 'invalid_client')
  return refused(`The token endpoint answered ${result.status}${words}`, isClientUnknown)
}

function refused(message: string, isClientUnknown = false): TokenAnswer {
  return { kind: 'refused', message, isClientUnknown }
}

function wordsOf(
  { error, error_description: description }: z.output<typeof refusalSchema>,
  mask: SecretMask,
): string {
  const words = description === undefined ? error : `${error}: ${description}`
  return toStorableText(mask.text(words).slice(0, WORDS_LENGTH_MAX))
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
