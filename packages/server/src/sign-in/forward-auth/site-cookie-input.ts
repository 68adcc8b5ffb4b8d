/* The cookie by which a site knows a browser. RFC 6265bis. */
import { writeSessionCookie, type SessionCookie } from '../../platform/http/session-cookie.ts'

const NAME = 'heliograph-site'

/** Only the site itself can set it, by HTTPS: nobody plants one from a neighbouring host. */
export function toSiteCookie(baseUrl: string): SessionCookie {
  const isSecure = baseUrl.startsWith('https:')
  return { name: isSecure ? `__Host-${NAME}` : NAME, isSecure }
}

/** The `Set-Cookie` header that has a browser hold a value for a time. */
export function writeSiteCookie(value: string, seconds: number, baseUrl: string): string {
  return writeSessionCookie(toSiteCookie(baseUrl), value, seconds)
}
