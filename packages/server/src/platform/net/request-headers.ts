/*
 * The headers of outbound requests: which a request may carry (nothing that could forge or split it), and
 * which of their values may be seen.
 */

/** Headers that frame the message or route the connection; the client alone sets them (RFC 9110 section 7.6.1). */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** A token of RFC 9110 section 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/

/** Anything but a tab and the visible characters and spaces of ISO 8859-1 (RFC 9110 section 5.5). */
const FORBIDDEN_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/

const VALUE_LENGTH_MAX = 8_192

/** Headers whose values tell nothing secret. All others may have been chosen by somebody. */
const OPEN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-type',
  'traceparent',
  'user-agent',
])

/** Whether the value of a header may be seen; `openHeaders`, in lower case, are those of this request too. */
export function isOpenHeader(name: string, openHeaders: readonly string[] = []): boolean {
  const lowerCase = name.toLowerCase()
  return OPEN_HEADERS.has(lowerCase) || openHeaders.includes(lowerCase)
}

/**
 * Answers a public sentence about the first header that may not be sent, or undefined when all may. The
 * value is never repeated in the sentence, because it may be a secret.
 */
export function findHeaderProblem(headers: Readonly<Record<string, string>>): string | undefined {
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (!HEADER_NAME.test(name))
      return `The header name ${JSON.stringify(name.slice(0, 64))} is not valid`
    if (CONNECTION_HEADERS.has(name.toLowerCase()))
      return `The header ${name} is set by the service and cannot be given`
    if (value.length > VALUE_LENGTH_MAX)
      return `The value of the header ${name} is longer than ${VALUE_LENGTH_MAX} characters`
    if (FORBIDDEN_IN_VALUE.test(value)) {
      return `The value of the header ${name} contains a line break or another character that headers cannot carry`
    }
  }
  return undefined
}
