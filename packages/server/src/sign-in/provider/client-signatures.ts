/*
 * What applications sign: by which algorithms, and for how long it counts. A request to sign in names the person, so
 * that whoever has seen its address could begin as that person for as long as it is good.
 */
import { errors } from 'oidc-provider'
import { HOUR_MS, SECOND_MS, systemClock, toEpochSeconds } from '../../platform/clock.ts'

export const CLIENT_SIGNATURES = [
  ...['RS256', 'PS256', 'ES256', 'ES384', 'ES512', 'Ed25519', 'EdDSA'],
] as const

/** By how much the clocks of applications may be wrong; the library is told the same. */
export const CLOCK_TOLERANCE_SECONDS = 15
/**
 * FAPI 1.0 Advanced has it for requests (section 5.2.2). Of assertions, which libraries make for up to an hour, each
 * used one is remembered until its end.
 */
const LIFE_MAX_SECONDS = HOUR_MS / SECOND_MS + CLOCK_TOLERANCE_SECONDS

type Claims = Readonly<Record<string, unknown>>

/** Refuses a signed request without an end, or with a late one. @throws InvalidRequestObject */
export function assertShortRequest(_context: unknown, claims: Claims): void {
  if (lifeSeconds(claims) <= LIFE_MAX_SECONDS) return
  throw new errors.InvalidRequestObject('the Request Object must end within an hour (exp)')
}

/** Refuses an assertion of a client with a late end. @throws InvalidClientAuth */
export function assertShortAssertion(_context: unknown, claims: Claims): void {
  if (lifeSeconds(claims) <= LIFE_MAX_SECONDS) return
  throw new errors.InvalidClientAuth('the client assertion must end within an hour (exp)')
}

/** By the clock of the machine, as the library judges the rest; infinite without an end. */
function lifeSeconds({ exp }: Claims): number {
  return typeof exp === 'number' ? exp - toEpochSeconds(systemClock.now()) : Infinity
}
