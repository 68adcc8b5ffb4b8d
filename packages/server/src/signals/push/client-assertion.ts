import { createPrivateKey, sign, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import type { Kysely } from 'kysely'
import type { Clock } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import { newUuid } from '../../platform/ids.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { getSigningKey } from '../signing/signing-key-store.ts'
import { privateKeyContext } from '../signing/signing-keys.ts'

/** Signs the assertion with which a client authenticates at a token endpoint. RFC 7523 section 2.2. */
export type SignAssertion = (clientId: string, tokenEndpoint: string) => Promise<string>

export interface AssertionDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly sealer: Sealer
  /** The key that signs now; it is published in `jwks_uri`. */
  readonly keyRing: { activeKid(): string }
}

const LIFETIME_SECONDS = 60

const signInThread = promisify(sign)

/**
 * Creates the signer. An assertion says `typ: JWT`, so that it can never be taken for an event that the
 * same key signs, and is signed in a thread of the runtime, because it may happen while events go out.
 */
export function createAssertionSigner(dependencies: AssertionDependencies): SignAssertion {
  const { clock, keyRing } = dependencies
  return async (clientId, tokenEndpoint) => {
    const kid = keyRing.activeKid()
    const issuedAt = Math.floor(clock.now().getTime() / 1_000)
    const signed = [
      { alg: 'RS256', kid, typ: 'JWT' },
      {
        iss: clientId,
        sub: clientId,
        aud: tokenEndpoint,
        jti: newUuid(),
        iat: issuedAt,
        exp: issuedAt + LIFETIME_SECONDS,
      },
    ]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    const key = await loadKey(dependencies, kid)
    const signature = await signInThread('sha256', Buffer.from(signed, 'latin1'), key)
    return `${signed}.${signature.toString('base64url')}`
  }
}

async function loadKey({ db, sealer }: AssertionDependencies, kid: string): Promise<KeyObject> {
  const { privateKeySealed } = await getSigningKey(db, kid)
  return createPrivateKey(sealer.openText(privateKeySealed, privateKeyContext(kid)))
}
