/*
 * What is kept of the headers of an attempt: enough to understand it, nothing that lets anybody in,
 * and never more than fits a row.
 */
import type { OutboundResult } from '../../platform/net/outbound-result.ts'
import { toStorableText } from '../../platform/storable-text.ts'

/** Stands for a value that may be secret. */
export const MASKED = '[masked]'

const HEADERS_MAX = 64
const VALUE_LENGTH_MAX = 1_024

/** Request headers whose values tell nothing secret. All others may have been chosen by somebody. */
const OPEN_REQUEST_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-type',
  'traceparent',
  'user-agent',
  'webhook-id',
  'webhook-signature',
  'webhook-timestamp',
  'x-kolide-webhook-identifier',
  'x-service-webhook-identifier',
])

/** Response headers that hand out or repeat credentials. */
const SECRET_RESPONSE_HEADERS: ReadonlySet<string> = new Set([
  'authentication-info',
  'authorization',
  'cookie',
  'proxy-authorization',
  'set-cookie',
  'set-cookie2',
  'x-api-key',
  'x-auth-token',
])

/** The scheme of an `Authorization` value: the word before its first space. */
const SCHEME = /^([A-Za-z][A-Za-z0-9-]{0,31}) ./

/** The request headers of an attempt; of an `Authorization` its scheme stays, because errors hide there. */
export function toStoredRequestHeaders(
  headers: Readonly<Record<string, string>>,
): Record<string, string> {
  const stored: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers).slice(0, HEADERS_MAX)) {
    const lowerCase = name.toLowerCase()
    if (OPEN_REQUEST_HEADERS.has(lowerCase)) stored[lowerCase] = bounded(value)
    else stored[lowerCase] = lowerCase === 'authorization' ? maskAuthorization(value) : MASKED
  }
  return stored
}

/** The headers of an answer; null when there was none. */
export function toStoredResponseHeaders(result: OutboundResult): Record<string, string> | null {
  if (result.kind === 'failed') return null
  const stored: Record<string, string> = {}
  for (const [name, value] of Object.entries(result.headers).slice(0, HEADERS_MAX)) {
    if (value === undefined) continue
    const text = typeof value === 'string' ? value : value.join(', ')
    stored[name] = SECRET_RESPONSE_HEADERS.has(name) ? MASKED : bounded(text)
  }
  return stored
}

function maskAuthorization(value: string): string {
  const scheme = SCHEME.exec(value)?.[1]
  return scheme === undefined ? MASKED : `${scheme} ${MASKED}`
}

function bounded(text: string): string {
  return toStorableText(text.slice(0, VALUE_LENGTH_MAX))
}
