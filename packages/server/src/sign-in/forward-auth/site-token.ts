/*
 * What a site is told of whom it lets in: plain values for people who read headers, and the same signed, for sites that
 * want to know that nobody else has written them.
 */
import { importJWK, SignJWT, type CryptoKey, type JWK } from 'jose'
import type { Clock } from '../../platform/clock.ts'
import { MINUTE_MS, SECOND_MS, toEpochSeconds } from '../../platform/clock.ts'
import type { SignInKeys, SigningJwk } from '../provider/sign-in-keys.ts'
import { ACR_OF, toAmr, toSessionClaims } from '../provider/session-claims.ts'
import type { SiteSession } from './site-session-store.ts'
import type { Site } from './site.ts'

/**
 * Makes the signed statement that somebody was let in: for one site, good for half a minute at least. RFC 7519. A page
 * asks for many things at once: the same statement is signed once.
 */
export type SignSiteToken = (session: SiteSession, site: Site) => Promise<string>

const LIFETIME_SECONDS = MINUTE_MS / SECOND_MS
const REUSED_SECONDS = 30
/** Sessions at sites that are busy within half a minute; of 2 kB each. */
const KEPT_MAX = 2_000

export function createSiteTokens({
  keys,
  clock,
  baseUrl,
}: {
  readonly keys: Pick<SignInKeys, 'current'>
  readonly clock: Clock
  readonly baseUrl: string
}): SignSiteToken {
  let imported: { readonly kid: string; readonly key: Promise<CryptoKey> } | undefined
  const importKey = async (jwk: SigningJwk): Promise<CryptoKey> => {
    // An RSA key is an asymmetric one, which is never bytes.
    const key = importJWK(jwk as JWK, jwk.alg) as Promise<CryptoKey>
    if (imported?.kid !== jwk.kid) imported = { kid: jwk.kid, key }
    return imported.key
  }
  const kept = new Map<string, { readonly token: Promise<string>; readonly until: number }>()
  return async (session, { origin }) => {
    const [jwk] = await keys.current()
    if (jwk === undefined) throw new Error('there is no key that signs')
    const now = toEpochSeconds(clock.now())
    const claims = {
      ...toSessionClaims(session),
      sid: session.sid,
      acr: ACR_OF[session.assurance],
      amr: toAmr([], session.assurance),
    }
    const said = JSON.stringify([jwk.kid, origin, session.personId, claims])
    const known = kept.get(said)
    if (known !== undefined && known.until > now) return known.token
    const token = new SignJWT(claims)
      .setProtectedHeader({ alg: jwk.alg, typ: 'heliograph-site+jwt', kid: jwk.kid })
      .setIssuer(`${baseUrl}/sign-in`)
      .setAudience(origin)
      .setSubject(session.personId)
      .setIssuedAt(now)
      .setExpirationTime(now + LIFETIME_SECONDS)
      .sign(await importKey(jwk))
    keep(kept, said, { token, until: now + REUSED_SECONDS })
    return token
  }
}

/** The oldest goes first. */
function keep<Kept>(kept: Map<string, Kept>, name: string, value: Kept): void {
  kept.delete(name)
  kept.set(name, value)
  const [oldest] = kept.keys()
  if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest)
}
