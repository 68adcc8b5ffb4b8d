import type { SiteSession } from './site-session-store.ts'

/** What stands where there is nothing: some proxies leave what a client has sent in the place of an empty header. */
const NOTHING = 'none'

/** The headers by which a proxy tells a site who is let in. Every one is there, with a value, each time. */
export function toSiteHeaders(session: SiteSession, token: string): Record<string, string> {
  const values = {
    'person-id': session.personId,
    'person-email': session.personEmail,
    'person-name': session.personName,
    'device-id': session.deviceId,
    'device-name': session.deviceName,
    'device-auth-state': session.authState,
    assurance: session.assurance,
    token,
  }
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`x-heliograph-${name}`, toHeaderText(value)]),
  )
}

/** Percent-encoded where it is not printable ASCII. RFC 3986 section 2.1. */
function toHeaderText(value: string | null): string {
  if (value === null || value === '') return NOTHING
  return value.replace(/[^\x20-\x24\x26-\x7e]/gu, encodeCharacter).trim()
}

/** Half of a surrogate pair is no character. */
function encodeCharacter(character: string): string {
  return encodeURIComponent(character.toWellFormed())
}
