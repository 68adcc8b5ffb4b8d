/*
 * The master keys and backups: how a backup tells which keys its secrets need, and how the keys travel with it under
 * a passphrase. Without them the secrets in a backup cannot be opened by anybody.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../platform/app-error.ts'
import type {
  BackupManifest,
  OpenedBackup,
  SealedKeys,
} from '../../platform/backup/backup-files.ts'
import {
  deriveKey,
  parseMasterKeys,
  type MasterKey,
  type MasterKeys,
} from '../../platform/secrets/master-key.ts'
import { openWithPassphrase, sealWithPassphrase } from '../../platform/secrets/passphrase-box.ts'
import { createPrivateFile } from '../../platform/secrets/private-file.ts'
import type { Config } from '../config/load-config.ts'
import { findMasterKeys, masterKeyFile } from '../master-keys.ts'

type KeyDescription = BackupManifest['master_keys'][number]

/** Which keys a backup needs. Reveals nothing of them. */
export function describeKeys(
  { current, previous }: MasterKeys,
  backupId: string,
): KeyDescription[] {
  return [current, ...previous].map((key) => ({
    id: key.id.toString('hex'),
    check: toCheck(key, backupId).toString('hex'),
  }))
}

/** The keys under a passphrase, bound to the manifest of their backup. */
export async function sealKeys(
  keys: MasterKeys,
  passphrase: string,
  manifestDigest: Buffer,
): Promise<SealedKeys> {
  const text = toText(keys)
  return { master_keys: await sealWithPassphrase(text, passphrase, manifestDigest) }
}

/** The keys for a restored database, and how they come to be where the service looks for them. */
export interface RestoredKeys {
  readonly keys: MasterKeys
  /** The file that is written; undefined where the keys are there already. */
  readonly file: string | undefined
  /** Puts the keys there. To be called before the database takes its place. */
  save(): Promise<void>
}

/**
 * Finds the keys that a backup needs: in the setting or the data folder, or else in the backup.
 *
 * @throws AppError `conflict` where there are none, others, or the passphrase is wrong; `invalid_parameter` for a
 * passphrase that is missing
 */
export async function findKeysOf(
  backup: OpenedBackup,
  config: Config,
  passphrase: string | undefined,
): Promise<RestoredKeys> {
  const own = await findMasterKeys(config)
  if (own !== undefined) {
    if (!opens(own, backup.manifest)) throw otherKeys(config)
    return { keys: own, file: undefined, save: () => Promise.resolve() }
  }
  const keys = await openKeys(backup, passphrase)
  const file = masterKeyFile(config)
  return {
    keys,
    file,
    async save() {
      const isSaved = await createPrivateFile(file, `${toText(keys)}\n`)
      const saved = isSaved ? keys : await findMasterKeys(config)
      if (saved === undefined || !opens(saved, backup.manifest)) throw otherKeys(config)
    },
  }
}

async function openKeys(
  { keys: sealed, manifest, manifestDigest }: OpenedBackup,
  passphrase: string | undefined,
): Promise<MasterKeys> {
  if (sealed === undefined) {
    throw new AppError(
      'conflict',
      'This backup holds no keys. Put the master.key of its service into the data folder, or give it as HELIOGRAPH_MASTER_KEY.',
    )
  }
  if (passphrase === undefined) {
    throw new AppError(
      'invalid_parameter',
      'The keys of this backup are sealed: give --passphrase-file, or the master.key of its service.',
    )
  }
  const text = await openWithPassphrase(sealed.master_keys, passphrase, manifestDigest)
  const keys = text === undefined ? undefined : parseMasterKeys(text, 'the backup')
  if (keys === undefined || !opens(keys, manifest)) {
    throw new AppError(
      'conflict',
      'The passphrase is not that of this backup. Nothing was touched.',
    )
  }
  return keys
}

function opens(keys: MasterKeys, { id, master_keys: needed }: BackupManifest): boolean {
  const own = [keys.current, ...keys.previous].map((key) => toCheck(key, id))
  return needed.every(({ check }) =>
    own.some((each) => timingSafeEqual(each, Buffer.from(check, 'hex'))),
  )
}

function otherKeys(config: Config): AppError {
  const origin = config.masterKey === undefined ? masterKeyFile(config) : 'HELIOGRAPH_MASTER_KEY'
  return new AppError(
    'conflict',
    `The master key from ${origin} is not the one of this backup. Nothing was touched.`,
  )
}

function toCheck(key: MasterKey, backupId: string): Buffer {
  return createHmac('sha256', deriveKey(key, 'heliograph backup key check'))
    .update(backupId)
    .digest()
}

function toText({ current, previous }: MasterKeys): string {
  return [current, ...previous].map(({ secret }) => secret.toString('base64')).join(',')
}
