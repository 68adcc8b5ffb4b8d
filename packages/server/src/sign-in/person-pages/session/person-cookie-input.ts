/* The cookie of the pages of a person. RFC 6265bis. */
import type { IncomingHttpHeaders } from 'node:http'
import {
  readSessionCookie,
  writeSessionCookie,
  type SessionCookie,
} from '../../../platform/http/session-cookie.ts'

const NAME = 'heliograph-person'

function toPersonCookie(baseUrl: string): SessionCookie {
  const isSecure = baseUrl.startsWith('https:')
  return { name: isSecure ? `__Host-${NAME}` : NAME, isSecure }
}

/** The token that a browser holds. */
export function readPersonCookie(
  headers: IncomingHttpHeaders,
  baseUrl: string,
): string | undefined {
  return readSessionCookie(headers, toPersonCookie(baseUrl))
}

/** The `Set-Cookie` header that has a browser hold a token; 0 seconds end it. */
export function writePersonCookie(token: string, seconds: number, baseUrl: string): string {
  return writeSessionCookie(toPersonCookie(baseUrl), token, seconds)
}
