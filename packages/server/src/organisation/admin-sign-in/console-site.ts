/*
 * What browsers call the console: where its pages are, which cookie its sessions have, and for which site
 * passkeys are made. All of it follows from the base URL.
 */

/** The console as browsers see it. */
export interface ConsoleSite {
  /** Where people open the console. */
  readonly origin: string
  /** Every origin under which browsers may reach it. */
  readonly origins: readonly string[]
  /** The relying party of passkeys: the host of the origin. */
  readonly rpId: string
  readonly cookie: { readonly name: string; readonly isSecure: boolean }
  /** Sent with every write of the console, in lower case. */
  readonly proofHeader: string
  /** Sent, in lower case, with what a page of the console asks for while nobody uses it. */
  readonly unattendedHeader: string
}

const COOKIE = 'heliograph_session'
const PROOF_HEADER = 'x-heliograph-console'
const UNATTENDED_HEADER = 'x-heliograph-unattended'

/**
 * The console of a service with this base URL. On a loopback address it is opened as `localhost`: a site whose
 * name is an address can have no passkeys. Plain HTTP is served for these only; cookies there do not tell ports
 * apart, so their names do.
 */
export function toConsoleSite(baseUrl: string): ConsoleSite {
  const named = new URL(baseUrl)
  const given = named.origin
  if (isLoopbackAddress(named.hostname)) named.hostname = 'localhost'
  const isSecure = named.protocol === 'https:'
  const name = isSecure ? `__Host-${COOKIE}` : `${COOKIE}_${named.port || '80'}`
  return {
    origin: named.origin,
    origins: [...new Set([named.origin, given])],
    rpId: named.hostname,
    cookie: { name, isSecure },
    proofHeader: PROOF_HEADER,
    unattendedHeader: UNATTENDED_HEADER,
  }
}

/** The address that a one-time link is. Its token stands behind the `#`, which browsers send to nobody. */
export function toSignInAddress({ origin }: ConsoleSite, token: string): string {
  return `${origin}/console/sign-in#token=${token}`
}

function isLoopbackAddress(hostname: string): boolean {
  return hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}
