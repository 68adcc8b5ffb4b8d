/*
 * The keys that sign SETs: made at the first start, sealed at rest, rotated with overlap. Owns their
 * rows and their lives; the threads that use them are signing-pool.ts, their publication jwks-routes.ts.
 */
import { sql, type Kysely } from 'kysely'
import type { Change } from '../../audit/change.ts'
import { DAY_MS, MINUTE_MS } from '../../platform/clock.ts'
import type { Schema } from '../../platform/db/schema.ts'
import type { SealContext, Sealer } from '../../platform/secrets/sealed-box.ts'
import {
  generateSigningKey,
  type GeneratedSigningKey,
  type RsaModulusBits,
} from './generate-signing-key.ts'
import { insertSigningKey, listSigningKeys, retireSigningKeysExcept } from './signing-key-store.ts'

/** Orders the processes that start at the same time on an empty database. */
const CREATION_LOCK = [7201, 2] as const

/**
 * A new key is published this long before it signs, so that receivers which cache the key set, and
 * processes of the service which read it each minute, know it by then.
 */
export const PUBLICATION_LEAD_MS = 60 * MINUTE_MS

/**
 * A key that no longer signs stays published this long. Longer than the retry schedule (75 h), so
 * that tokens which were signed before the rotation and are still on their way can be verified.
 */
export const PUBLICATION_OVERLAP_MS = 30 * DAY_MS

export interface SigningKeyDependencies {
  readonly sealer: Sealer
  readonly modulusBits: RsaModulusBits
}

/** The place of a sealed private key. */
export function privateKeyContext(kid: string): SealContext {
  return { table: 'signing_key', column: 'private_key_sealed', id: kid }
}

/** Makes the first signing key unless there is one. Idempotent, also between processes. */
export async function ensureSigningKey(
  change: Change,
  dependencies: SigningKeyDependencies,
): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.join(CREATION_LOCK)})`.execute(change.tx)
  const keys = await listSigningKeys(change.tx)
  if (keys.some((key) => key.retired_at === null)) return
  await addSigningKey(change, dependencies, change.at)
}

/**
 * Makes sure that the signing keys open under the master keys of this process. Every process asks before
 * it seals anything: under another master key, nobody else could open that.
 *
 * @throws UnsealError
 */
export async function assertSigningKeysOpen(db: Kysely<Schema>, sealer: Sealer): Promise<void> {
  for (const { kid, private_key_sealed } of await listSigningKeys(db)) {
    sealer.open(private_key_sealed, privateKeyContext(kid))
  }
}

/**
 * Adds a key that takes over after the publication lead, and lets the others go out of publication
 * after the overlap. Answers the new `kid`.
 */
export async function rotateSigningKey(
  change: Change,
  dependencies: SigningKeyDependencies,
): Promise<string> {
  await sql`select pg_advisory_xact_lock(${sql.join(CREATION_LOCK)})`.execute(change.tx)
  const activeFrom = new Date(change.at.getTime() + PUBLICATION_LEAD_MS)
  const { kid } = await addSigningKey(change, dependencies, activeFrom)
  const retiredAt = new Date(activeFrom.getTime() + PUBLICATION_OVERLAP_MS)
  await retireSigningKeysExcept(change.tx, kid, retiredAt)
  return kid
}

async function addSigningKey(
  change: Change,
  { sealer, modulusBits }: SigningKeyDependencies,
  activeFrom: Date,
): Promise<GeneratedSigningKey> {
  const key = await generateSigningKey(modulusBits)
  await insertSigningKey(change.tx, {
    kid: key.kid,
    algorithm: 'RS256',
    public_jwk: key.publicJwk,
    private_key_sealed: sealer.seal(key.privateKeyPem, privateKeyContext(key.kid)),
    created_at: change.at,
    active_from: activeFrom,
  })
  change.recordAudit({
    action: 'signing_key.created',
    target: { type: 'signing_key', id: key.kid },
    description: `created the signing key ${key.kid}`,
    after: { kid: key.kid, modulus_bits: modulusBits, active_from: activeFrom.toISOString() },
  })
  return key
}
