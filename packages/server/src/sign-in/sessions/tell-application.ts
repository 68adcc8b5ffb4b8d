/* One logout token to one application. OpenID Connect Back-Channel Logout 1.0, sections 2.4 to 2.8. */
import { importJWK, SignJWT } from 'jose'
import type { Foundation } from '../../changes/foundation.ts'
import { MINUTE_MS, SECOND_MS, toEpochSeconds } from '../../platform/clock.ts'
import { newUuid } from '../../platform/ids.ts'
import type { Outbound } from '../../platform/net/outbound.ts'
import type { SignInKeys } from '../provider/sign-in-keys.ts'
import type { DueLogout } from './logout-store.ts'

export interface TellApplicationDependencies extends Pick<Foundation, 'clock'> {
  readonly baseUrl: string
  readonly keys: Pick<SignInKeys, 'current'>
  readonly outbound: Pick<Outbound, 'client'>
}

/** What an application said; `failure` is in words for admins. */
export type LogoutAnswer =
  | { readonly kind: 'taken' }
  /** It does not take this logout. */
  | { readonly kind: 'refused'; readonly failure: string }
  /** It takes none at present. */
  | { readonly kind: 'unavailable'; readonly failure: string }

const TOKEN_SECONDS = (2 * MINUTE_MS) / SECOND_MS
const EVENT = 'http://schemas.openid.net/event/backchannel-logout'

/** Sends one; throws when the service itself cannot sign it. */
export async function tellApplication(
  { baseUrl, keys, clock, outbound }: TellApplicationDependencies,
  { sid, personId, clientId, url }: DueLogout,
): Promise<LogoutAnswer> {
  const [key] = await keys.current()
  if (key === undefined) throw new Error('there is no key that signs logout tokens')
  const now = toEpochSeconds(clock.now())
  const token = await new SignJWT({ sid, events: { [EVENT]: {} } })
    .setProtectedHeader({ alg: 'RS256', typ: 'logout+jwt', kid: key.kid })
    .setIssuer(`${baseUrl}/sign-in`)
    .setAudience(clientId)
    .setSubject(personId)
    .setIssuedAt(now)
    .setExpirationTime(now + TOKEN_SECONDS)
    .setJti(newUuid())
    .sign(await importJWK(key, 'RS256'))
  const result = await outbound.client.request({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ logout_token: token }).toString(),
    isAnswerConfidential: true,
  })
  return result.kind === 'failed'
    ? { kind: 'unavailable', failure: result.message }
    : toAnswer(result.status)
}

function toAnswer(status: number): LogoutAnswer {
  if (status >= 200 && status < 300) return { kind: 'taken' }
  const isBusy = status >= 500 || status === 408 || status === 429
  return {
    kind: isBusy ? 'unavailable' : 'refused',
    failure: `The application answered ${status}.`,
  }
}
