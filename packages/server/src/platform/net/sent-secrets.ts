/*
 * What is secret of an outbound request, so that an answer that repeats it can be kept: the values of its
 * headers and what its body says in confidence.
 */
import { MASKED, createSecretMask, type SecretMask } from '../secrets/mask-secrets.ts'
import type { OutboundResponse } from './outbound-result.ts'
import { isOpenHeader } from './request-headers.ts'

/** `Authorization: <scheme> <credentials>` of RFC 9110 section 11.4; the scheme is no secret. */
const WITH_SCHEME = /^([A-Za-z][A-Za-z0-9-]{0,31}) +(?=.)/

/** What of a request can be secret (`guarded-client.ts`). */
interface SentParts {
  readonly headers?: Readonly<Record<string, string>>
  readonly openHeaders?: readonly string[]
  readonly secrets?: readonly string[]
}

/** What takes the secrets of a request out of texts. */
export function createSentSecretsMask({
  headers = {},
  openHeaders,
  secrets = [],
}: SentParts): SecretMask {
  const values = Object.entries(headers)
    .filter(([name]) => !isOpenHeader(name, openHeaders))
    .flatMap(([, value]) => credentialsOf(value))
  return createSecretMask([...values, ...secrets])
}

const maskOfHeaders = new WeakMap<Readonly<Record<string, string>>, SecretMask>()

/** The same; made once for requests that share their headers and have no secrets of their own. */
export function sentSecretsMaskOf(parts: SentParts): SecretMask {
  const { headers, openHeaders, secrets } = parts
  if (headers === undefined || openHeaders !== undefined || secrets !== undefined) {
    return createSentSecretsMask(parts)
  }
  const known = maskOfHeaders.get(headers)
  if (known !== undefined) return known
  const mask = createSentSecretsMask(parts)
  maskOfHeaders.set(headers, mask)
  return mask
}

/** The answer without the secrets of its request: in its headers, in their names not, and in its body. */
export function maskResponse(response: OutboundResponse, mask: SecretMask): OutboundResponse {
  const headers: OutboundResponse['headers'] = {}
  for (const [name, value] of Object.entries(response.headers)) {
    headers[name] = Array.isArray(value)
      ? value.map((one) => mask.text(one))
      : mask.text(value ?? '')
  }
  const body = mask.bytes(response.body, { isCut: response.bodyTruncated })
  return { ...response, headers, body }
}

/** The value of a header as it may be kept: of credentials, their scheme stays, because errors hide there. */
export function maskHeaderValue(value: string): string {
  const scheme = WITH_SCHEME.exec(value)?.[1]
  return scheme === undefined ? MASKED : `${scheme} ${MASKED}`
}

/** What a value lets in by: all of it, and what follows its scheme, if that first word is one. */
function credentialsOf(value: string): string[] {
  const whole = value.trim()
  const scheme = WITH_SCHEME.exec(whole)
  if (scheme === null) return [whole]
  const credentials = whole.slice(scheme[0].length)
  const isBasic = scheme[1]?.toLowerCase() === 'basic'
  return [whole, credentials, ...(isBasic ? passwordsOf(credentials) : [])]
}

/** The pair and its password, as they are and as OAuth encodes them. RFC 7617, RFC 6749 section 2.3.1. */
function passwordsOf(credentials: string): string[] {
  const pair = Buffer.from(credentials, 'base64').toString('utf8')
  const password = pair.slice(pair.indexOf(':') + 1)
  return [pair, password, new URLSearchParams(`v=${password}`).get('v') ?? '']
}
