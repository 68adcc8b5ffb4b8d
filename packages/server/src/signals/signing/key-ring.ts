/*
 * The signing keys as this process knows them: which one signs now, for which stream, which are published,
 * and the private ones in the threads of the signing pool. Owns which key signs a queued SET; the threads do
 * the signing. Reads the tables again when told.
 */
import type { Foundation } from '../../changes/foundation.ts'
import { DAY_MS } from '../../platform/clock.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { createKeyProofs, type KeyProofs } from './key-proofs.ts'
import { judgeKeyRefusal, type KeyRefusal } from './judge-key-refusal.ts'
import { findStreamKey, isPresent, isPublished } from './signing-key.ts'
import { listSigningKeys, type SigningKeyRecord } from './signing-key-store.ts'
import { privateKeyContext } from './signing-keys.ts'
import type { SigningPool } from './signing-pool.ts'
import { listStreamKeys, type StreamKey } from './stream-key-store.ts'

/** A public key as `jwks.json` shows it. RFC 7517 section 4. */
export interface PublishedKey {
  readonly kty: string
  readonly n: string
  readonly e: string
  readonly kid: string
  readonly alg: 'RS256'
  readonly use: 'sig'
}

/** What is needed of a queued SET to sign it. */
export interface SignableDelivery {
  /** The claims as text; these bytes are signed. */
  readonly body: string
  readonly signingKid: string | null
  readonly token: string | null
  /** Where it goes: the key that replaces one out of publication is that of its stream. */
  readonly destinationId?: DestinationId
}

/** A stream whose receiver refused a new key tries it again after this time. */
export const STREAM_ROLLBACK_MS = DAY_MS

export interface KeyRingDependencies extends Pick<Foundation, 'db' | 'clock' | 'sealer'> {
  readonly pool: SigningPool
}

/** The keys of one process. A new ring has none: `refresh` comes first, then once a minute. */
export class KeyRing {
  /** What receivers have made of the keys. */
  readonly proofs: KeyProofs
  readonly #dependencies: KeyRingDependencies
  readonly #loaded = new Set<string>()
  #keys: readonly SigningKeyRecord[] = []
  #streamKeys: ReadonlyMap<string, StreamKey> = new Map()

  constructor(dependencies: KeyRingDependencies) {
    this.#dependencies = dependencies
    this.proofs = createKeyProofs(dependencies)
  }

  /** Reads the keys from the database and hands new ones to the signing pool. */
  async refresh(): Promise<void> {
    const { db, clock, sealer, pool } = this.#dependencies
    const rows = await listSigningKeys(db)
    const streams = await listStreamKeys(db)
    const now = clock.now()
    await this.proofs.refresh(rows.filter((key) => isPublished(key, now)).map(({ kid }) => kid))
    for (const { kid, privateKeySealed } of rows) {
      if (this.#loaded.has(kid)) continue
      pool.addKey(kid, sealer.openText(privateKeySealed, privateKeyContext(kid)))
      this.#loaded.add(kid)
    }
    this.#keys = rows
    this.#streamKeys = new Map(streams.map((row) => [row.destinationId, row]))
  }

  /**
   * The key that signs what is claimed now: for the stream of the destination, or for those without a
   * key of their own. @throws Error before the first key exists.
   */
  activeKid(destinationId?: DestinationId): string {
    const own = this.#streamKeys.get(destinationId ?? '')
    const key = findStreamKey(own, this.#keys, this.#dependencies.clock.now())
    if (key === undefined) throw new Error('there is no active signing key')
    return key.kid
  }

  /** Whether receivers can still find the key. */
  isPublished(kid: string): boolean {
    return this.#published().some((key) => key.kid === kid)
  }

  /** The keys that receivers may verify with, newest first; private members are never among them. */
  publishedKeys(): PublishedKey[] {
    return this.#published().map(toPublishedKey)
  }

  #published(): SigningKeyRecord[] {
    const now = this.#dependencies.clock.now()
    return this.#keys.filter((key) => isPublished(key, now))
  }

  /** The token of each payload, in order; reads the keys again when `kid` is new to this process. */
  async sign(kid: string, payloads: readonly string[]): Promise<string[]> {
    if (!this.#loaded.has(kid)) await this.refresh()
    return this.#dependencies.pool.sign(kid, payloads)
  }

  /**
   * The token of each SET, in order: the stored one, or one made with the key that the SET is bound to.
   * Where that key has gone out of publication in the meantime nobody could verify it, so that the present
   * key signs instead. One batch for each key.
   */
  async signDeliveries(deliveries: readonly SignableDelivery[]): Promise<string[]> {
    const tokens: string[] = []
    const byKid = new Map<string, number[]>()
    for (const [index, { token, signingKid, destinationId }] of deliveries.entries()) {
      const isVerifiable = signingKid !== null && this.isPublished(signingKid)
      if (token !== null && isVerifiable) {
        tokens[index] = token
        continue
      }
      const kid = isVerifiable ? signingKid : this.activeKid(destinationId)
      const indexes = byKid.get(kid) ?? []
      indexes.push(index)
      byKid.set(kid, indexes)
    }
    const signBatch = async ([kid, indexes]: [string, number[]]) => {
      const bodies = indexes.map((index) => deliveries[index]?.body ?? '')
      const signed = await this.sign(kid, bodies)
      for (const [position, index] of indexes.entries()) tokens[index] = signed[position] ?? ''
    }
    await Promise.all([...byKid].map(signBatch))
    return tokens
  }

  /** What becomes of a SET whose receiver refused the key that signed it. */
  judgeRefusal(destinationId: DestinationId, kid: string): KeyRefusal {
    const now = this.#dependencies.clock.now()
    const own = this.#streamKeys.get(destinationId)
    const activeKid = this.activeKid(destinationId)
    return judgeKeyRefusal({
      keys: this.#keys,
      kid,
      now,
      activeKid,
      isRolledBack: isPresent(own, now) && own.reason === 'rolled_back' && own.kid === activeKid,
      firstAcceptedAt: this.proofs.firstAcceptedAt(destinationId, kid),
    })
  }

  /** Lets a stream go back to another key at once, in this process; the row is the caller's to write. */
  rollBackStream(rollback: StreamKey): void {
    this.#streamKeys = new Map([...this.#streamKeys, [rollback.destinationId, rollback]])
  }
}

/** Names the members one by one, so that nothing private can slip in from the row. */
function toPublishedKey({ kid, publicJwk }: SigningKeyRecord): PublishedKey {
  const { kty, n, e } = publicJwk
  if (kty === undefined || n === undefined || e === undefined) {
    throw new Error(`the public part of the signing key ${kid} is incomplete`)
  }
  return { kty, n, e, kid, alg: 'RS256', use: 'sig' }
}
