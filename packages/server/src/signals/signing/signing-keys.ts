/*
 * The keys that sign SETs: made at the first start, sealed at rest, rotated with overlap. Owns how a key
 * comes to be and for how long it is published; change-signing-key.ts moves it on,
 * the threads that use it are signing-pool.ts, its publication is jwks-routes.ts.
 */
import type { Kysely } from 'kysely'
import type { Change } from '../../changes/change.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../platform/clock.ts'
import { notify } from '../../platform/db/listener.ts'
import type { Schema } from '../../schema/schema.ts'
import type { SealContext, Sealer } from '../../platform/secrets/sealed-box.ts'
import {
  generateSigningKey,
  type RsaModulusBits,
} from '../../platform/secrets/generate-signing-key.ts'
import {
  insertSigningKey,
  listSigningKeys,
  lockSigningKeys,
  type SigningKeyRecord,
} from './signing-key-store.ts'

/** Told whenever keys, or which stream signs with which, have changed; every process reads them then. */
export const SIGNING_KEY_CHANNEL = 'signing_keys'

/**
 * A new key is published this long before it signs, unless a setting says otherwise: longer than the
 * hour for which receivers commonly cache the key set.
 */
export const PUBLICATION_LEAD_MS = 2 * HOUR_MS

/**
 * A key that no longer signs stays published this long. Longer than the retry schedule (52 h), so
 * that tokens which were signed before the rotation and are still on their way can be verified.
 */
export const PUBLICATION_OVERLAP_MS = 30 * DAY_MS

export interface SigningKeyDependencies {
  readonly sealer: Sealer
  readonly modulusBits: RsaModulusBits
  /** `PUBLICATION_LEAD_MS` by default. */
  readonly publicationLeadMs?: number
}

export interface SigningSettings {
  readonly signingKeyBits: RsaModulusBits
  readonly signingKeyLeadSeconds: number
  readonly signingKeyRotationDays: number
}

/** How keys are made and for how long they are published before they sign. */
export function toSigningKeySettings(
  { sealer }: Pick<SigningKeyDependencies, 'sealer'>,
  { signingKeyBits, signingKeyLeadSeconds }: Omit<SigningSettings, 'signingKeyRotationDays'>,
): SigningKeyDependencies {
  const publicationLeadMs = signingKeyLeadSeconds * SECOND_MS
  return { sealer, modulusBits: signingKeyBits, publicationLeadMs }
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
  await lockSigningKeys(change.tx)
  const keys = await listSigningKeys(change.tx)
  const isUsable = (key: SigningKeyRecord) => key.revokedAt === null && key.rolledBackAt === null
  if (keys.some((key) => isUsable(key) && key.retiredAt === null)) return
  await addSigningKey(change, dependencies, { activeFrom: change.at, generalFrom: change.at })
}

/**
 * Makes sure that the signing keys open under the master keys of this process. Every process asks before
 * it seals anything: under another master key, nobody else could open that.
 *
 * @throws UnsealError
 */
export async function assertSigningKeysOpen(db: Kysely<Schema>, sealer: Sealer): Promise<void> {
  for (const { kid, privateKeySealed: private_key_sealed } of await listSigningKeys(db)) {
    sealer.open(private_key_sealed, privateKeyContext(kid))
  }
}

/** When a new key begins to sign. */
export interface SigningKeyStart {
  readonly activeFrom: Date
  readonly generalFrom: Date
}

/** Makes a key and leaves an audit entry. The caller holds `lockSigningKeys`. */
export async function addSigningKey(
  change: Change,
  { sealer, modulusBits }: SigningKeyDependencies,
  { activeFrom, generalFrom }: SigningKeyStart,
): Promise<SigningKeyRecord> {
  const key = await generateSigningKey(modulusBits)
  const row = await insertSigningKey(change.tx, {
    kid: key.kid,
    algorithm: 'RS256',
    publicJwk: key.publicJwk,
    privateKeySealed: sealer.seal(key.privateKeyPem, privateKeyContext(key.kid)),
    createdAt: change.at,
    activeFrom,
    generalFrom: generalFrom,
  })
  change.recordAudit({
    action: 'signing_key.created',
    target: { type: 'signing_key', id: key.kid },
    description: `created the signing key ${key.kid}`,
    after: {
      kid: key.kid,
      modulus_bits: modulusBits,
      active_from: activeFrom.toISOString(),
      general_from: generalFrom.toISOString(),
    },
  })
  await notify(change.tx, SIGNING_KEY_CHANNEL)
  return row
}

/** What the audit log keeps of a key. */
export function toSigningKeyAudit(key: SigningKeyRecord) {
  return {
    kid: key.kid,
    active_from: key.activeFrom.toISOString(),
    general_from: key.generalFrom?.toISOString() ?? null,
    retired_at: key.retiredAt?.toISOString() ?? null,
    rolled_back_at: key.rolledBackAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  }
}
