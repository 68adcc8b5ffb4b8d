/*
 * What is kept of the headers of an attempt: enough to understand it, nothing that lets anybody in,
 * and never more than fits a row.
 */
import type { OutboundRequest } from '../../platform/net/guarded-client.ts'
import type { OutboundResult } from '../../platform/net/outbound-result.ts'
import { isOpenHeader } from '../../platform/net/request-headers.ts'
import { maskHeaderValue } from '../../platform/net/sent-secrets.ts'
import { MASKED } from '../../platform/secrets/mask-secrets.ts'
import { toStorableText } from '../../platform/storable-text.ts'

const HEADERS_MAX = 64
const VALUE_LENGTH_MAX = 1_024

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

/** The request headers of an attempt; of an `Authorization` its scheme stays. */
export function toStoredRequestHeaders({
  headers = {},
  openHeaders,
}: Pick<OutboundRequest, 'headers' | 'openHeaders'>): Record<string, string> {
  const stored: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers).slice(0, HEADERS_MAX)) {
    const lowerCase = name.toLowerCase()
    if (isOpenHeader(name, openHeaders)) stored[lowerCase] = bounded(value)
    else stored[lowerCase] = lowerCase === 'authorization' ? maskHeaderValue(value) : MASKED
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

function bounded(text: string): string {
  return toStorableText(text.slice(0, VALUE_LENGTH_MAX))
}
