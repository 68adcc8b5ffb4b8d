/*
 * The keys that sign checkpoints: Ed25519, made when the first checkpoint is signed, sealed at rest. A rotation
 * keeps the origin, which is the name of the log, and the first checkpoint afterwards is signed by both keys.
 * Another origin is begun where the log no longer continues what was signed, as after a restore.
 */
import { createPrivateKey, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto'
import type { Kysely } from 'kysely'
import { lockInTransaction } from '../../../platform/db/advisory-lock.ts'
import type { SealContext, Sealer } from '../../../platform/secrets/sealed-box.ts'
import { LOCK_KEYS } from '../../../schema/lock-keys.ts'
import type { Schema } from '../../../schema/schema.ts'
import type { Change } from '../../change.ts'
import {
  insertCheckpointKey,
  listCheckpointKeys,
  retireCheckpointKeysExcept,
  type CheckpointKeyRecord,
} from './checkpoint-store.ts'
import { toKeyId, toPublicKey, toVerifierKeyText, type VerifierKey } from './signed-note.ts'

export interface CheckpointKeyDependencies {
  readonly sealer: Sealer
  /** What the world calls the service; names a new log. */
  readonly baseUrl: string
}

function contextOf(id: string): SealContext {
  return { table: 'audit_checkpoint_key', column: 'private_key_sealed', id }
}

/** The private key of a record. Throws `UnsealError` under another master key. */
export function openCheckpointKey(sealer: Sealer, key: CheckpointKeyRecord): KeyObject {
  const der = sealer.open(key.privateKeySealed, contextOf(key.id))
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
}

/** The keys by which checkpoints are verified, with the retired ones: what those signed stays good. */
export async function listVerifierKeys(db: Kysely<Schema>): Promise<VerifierKey[]> {
  return (await listCheckpointKeys(db)).map(toVerifierKey)
}

export function toVerifierKey({ origin, publicKey }: CheckpointKeyRecord): VerifierKey {
  return { name: origin, publicKey }
}

/** The key that signs; made when there is none. The caller holds no lock. */
export async function ensureCheckpointKey(
  change: Change,
  dependencies: CheckpointKeyDependencies,
): Promise<void> {
  await lockInTransaction(change.tx, LOCK_KEYS.auditCheckpoints)
  const keys = await listCheckpointKeys(change.tx)
  if (keys.some(({ retiredAt }) => retiredAt === null)) return
  await addKey(change, dependencies, toNewOrigin(dependencies.baseUrl))
}

/**
 * Makes another key sign from now on. With `isNewLog` under another origin: checkpoints then begin anew, and
 * need not continue those that were signed before.
 */
export async function rotateCheckpointKey(
  change: Change,
  dependencies: CheckpointKeyDependencies,
  { isNewLog }: { readonly isNewLog: boolean },
): Promise<VerifierKey> {
  await lockInTransaction(change.tx, LOCK_KEYS.auditCheckpoints)
  const [newest] = await listCheckpointKeys(change.tx)
  const isContinued = newest !== undefined && !isNewLog
  const origin = isContinued ? newest.origin : toNewOrigin(dependencies.baseUrl)
  const key = await addKey(change, dependencies, origin)
  await retireCheckpointKeysExcept(change.tx, key.id, change.at)
  return toVerifierKey(key)
}

async function addKey(
  change: Change,
  { sealer }: CheckpointKeyDependencies,
  origin: string,
): Promise<CheckpointKeyRecord> {
  const { privateKey } = generateKeyPairSync('ed25519')
  const verifierKey = { name: origin, publicKey: toPublicKey(privateKey) }
  const id = toKeyId(verifierKey).toString('hex')
  const der = privateKey.export({ format: 'der', type: 'pkcs8' })
  const key = {
    id,
    origin,
    publicKey: verifierKey.publicKey,
    privateKeySealed: sealer.seal(der, contextOf(id)),
    createdAt: change.at,
    retiredAt: null,
  }
  await insertCheckpointKey(change.tx, key)
  change.recordAudit({
    action: 'audit_checkpoint_key.created',
    target: { type: 'audit_checkpoint_key', id },
    description: `created the key ${id} for checkpoints of the audit log`,
    after: { verifier_key: toVerifierKeyText(verifierKey) },
  })
  return key
}

/** A URL without its scheme, as the specification wants it; the random part tells apart logs of one address. */
function toNewOrigin(baseUrl: string): string {
  return `${new URL(baseUrl).host}/audit/${randomBytes(8).toString('hex')}`
}
