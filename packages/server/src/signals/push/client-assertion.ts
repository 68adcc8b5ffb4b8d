import { importPKCS8, SignJWT } from 'jose'
import type { Foundation } from '../../changes/foundation.ts'
import { toEpochSeconds } from '../../platform/clock.ts'
import { newUuid } from '../../platform/ids.ts'
import type { KeyRing } from '../signing/key-ring.ts'
import { getSigningKey } from '../signing/signing-key-store.ts'
import { privateKeyContext } from '../signing/signing-keys.ts'

/** Signs the assertion with which a client authenticates at a token endpoint. RFC 7523 section 2.2. */
export type SignAssertion = (clientId: string, tokenEndpoint: string) => Promise<string>

export interface AssertionDependencies extends Pick<Foundation, 'db' | 'clock' | 'sealer'> {
  /** The key that signs now; it is published in `jwks_uri`. */
  readonly keyRing: Pick<KeyRing, 'activeKid'>
}

const LIFETIME_SECONDS = 60

/**
 * Creates the signer. An assertion says `typ: JWT`, so that it can never be taken for an event that the
 * same key signs, and is signed in a thread of the runtime, because it may happen while events go out.
 */
export function createAssertionSigner({
  db,
  clock,
  sealer,
  keyRing,
}: AssertionDependencies): SignAssertion {
  return async (clientId, tokenEndpoint) => {
    const kid = keyRing.activeKid()
    const issuedAt = toEpochSeconds(clock.now())
    const { privateKeySealed } = await getSigningKey(db, kid)
    const pem = sealer.openText(privateKeySealed, privateKeyContext(kid))
    return new SignJWT({ jti: newUuid() })
      .setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT' })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(tokenEndpoint)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + LIFETIME_SECONDS)
      .sign(await importPKCS8(pem, 'RS256'))
  }
}
