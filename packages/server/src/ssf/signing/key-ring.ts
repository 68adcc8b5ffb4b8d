/*
 * The signing keys as this process knows them: which one signs now, which are published, and the
 * private ones in the threads of the signing pool. Reads the table again when told to.
 */
import type { Kysely } from 'kysely'
import type { Clock } from '../../platform/clock.ts'
import type { Schema } from '../../platform/db/schema.ts'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { listSigningKeys, type SigningKeyRow } from './signing-key-store.ts'
import { privateKeyContext } from './signing-keys.ts'
import type { SigningPool } from './signing-pool.ts'

/** A public key as `jwks.json` shows it. RFC 7517 section 4. */
export interface PublishedKey {
  readonly kty: string
  readonly n: string
  readonly e: string
  readonly kid: string
  readonly alg: 'RS256'
  readonly use: 'sig'
}

export interface KeyRing {
  /** Reads the keys from the database and hands new ones to the signing pool. */
  refresh(): Promise<void>
  /** The key that signs what is claimed now. @throws Error before the first key exists. */
  activeKid(): string
  /** Whether receivers can still find the key. */
  isPublished(kid: string): boolean
  /** The keys that receivers may verify with, newest first; private members are never among them. */
  publishedKeys(): PublishedKey[]
  /** The token of each payload, in order; reads the keys again when `kid` is new to this process. */
  sign(kid: string, payloads: readonly string[]): Promise<string[]>
}

export interface KeyRingDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly sealer: Sealer
  readonly pool: SigningPool
}

/** Creates a ring without keys: `refresh` comes first, then once a minute. */
export function createKeyRing({ db, clock, sealer, pool }: KeyRingDependencies): KeyRing {
  let keys: readonly SigningKeyRow[] = []
  const loaded = new Set<string>()

  async function refresh(): Promise<void> {
    keys = await listSigningKeys(db)
    for (const { kid, private_key_sealed } of keys) {
      if (loaded.has(kid)) continue
      pool.addKey(kid, sealer.openText(private_key_sealed, privateKeyContext(kid)))
      loaded.add(kid)
    }
  }

  function published(): SigningKeyRow[] {
    const now = clock.now()
    return keys.filter(({ retired_at }) => retired_at === null || retired_at > now)
  }

  return {
    refresh,
    activeKid() {
      const now = clock.now()
      const active = published().find(({ active_from }) => active_from <= now)
      if (active === undefined) throw new Error('there is no active signing key')
      return active.kid
    },
    isPublished: (kid) => published().some((key) => key.kid === kid),
    publishedKeys: () => published().map(toPublishedKey),
    async sign(kid, payloads) {
      if (!loaded.has(kid)) await refresh()
      return pool.sign(kid, payloads)
    },
  }
}

/** Names the members one by one, so that nothing private can slip in from the row. */
function toPublishedKey({ kid, public_jwk }: SigningKeyRow): PublishedKey {
  const { kty, n, e } = public_jwk
  if (kty === undefined || n === undefined || e === undefined) {
    throw new Error(`the public part of the signing key ${kid} is incomplete`)
  }
  return { kty, n, e, kid, alg: 'RS256', use: 'sig' }
}
