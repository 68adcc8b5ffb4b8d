/**
 * The master keys under which secrets are sealed, and the keys derived from them. It owns where they come
 * from (the setting or a file outside the database); what is sealed with them is `sealed-box.ts`'s.
 */
import { hkdfSync, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { describeUser } from '@heliograph/embedded-postgres'
import { errorCodeOf } from '../error-code-of.ts'
import { createPrivateFile, isReadableByOthers } from './private-file.ts'

/** One 256-bit master key; `id` names it without revealing it, and is stored with everything sealed under it. */
export interface MasterKey {
  /** 4 bytes. */
  readonly id: Buffer
  readonly secret: Buffer
}

/** New secrets are sealed under `current`; `previous` still open what was sealed before a rotation. */
export interface MasterKeys {
  readonly current: MasterKey
  readonly previous: readonly MasterKey[]
}

export interface MasterKeySource {
  /** `HELIOGRAPH_MASTER_KEY`; wins over the file when it is given. */
  readonly fromSetting?: string | undefined
  /** Created with a new key on first use when there is no setting. */
  readonly filePath: string
}

const KEY_BYTES = 32
const KEY_ID_BYTES = 4
const BASE64_KEY = /^[A-Za-z0-9+/]{43}=?$/
const BASE64URL_KEY = /^[A-Za-z0-9_-]{43}=?$/

/**
 * Loads the master keys: 32 bytes each as base64 or base64url, the current one first, former ones after it,
 * separated by commas, spaces or line breaks. Without a setting the file is read, and created with mode 600
 * on first use; processes that start at once agree on one key. Throws an `Error` with public words, which
 * never hold key material, when a key has the wrong length or others may read the file.
 */
export async function loadMasterKey({
  fromSetting,
  filePath,
}: MasterKeySource): Promise<MasterKeys> {
  const existing = await findMasterKeys({ fromSetting, filePath })
  if (existing !== undefined) return existing
  await createPrivateFile(filePath, `${randomBytes(KEY_BYTES).toString('base64')}\n`)
  const created = await readKeyFile(filePath)
  if (created === undefined)
    throw new Error(`The master key file ${filePath} vanished while it was created`)
  return parseMasterKeys(created, filePath)
}

/** Loads the master keys as {@link loadMasterKey} does; undefined where there is neither a setting nor the file. */
export async function findMasterKeys({
  fromSetting,
  filePath,
}: MasterKeySource): Promise<MasterKeys | undefined> {
  if (fromSetting !== undefined && fromSetting.trim() !== '') {
    return parseMasterKeys(fromSetting, 'HELIOGRAPH_MASTER_KEY')
  }
  const existing = await readKeyFile(filePath)
  return existing === undefined ? undefined : parseMasterKeys(existing, filePath)
}

/** Reads a list of keys; `origin` is named in the words of the error. */
export function parseMasterKeys(text: string, origin: string): MasterKeys {
  const keys = text
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map((part, index) => parseKey(part, `Key ${index + 1} of ${origin}`))
  const [current, ...previous] = keys
  if (current === undefined)
    throw new Error(`${origin} holds no key; it takes 32 random bytes as base64`)
  return { current, previous }
}

/**
 * A 256-bit key for one purpose, derived with HKDF-SHA-256 (RFC 5869). Different purposes give independent
 * keys; the same purpose always gives the same.
 */
export function deriveKey(masterKey: MasterKey, purpose: string): Buffer {
  return hkdf(masterKey.secret, purpose, KEY_BYTES)
}

function parseKey(text: string, name: string): MasterKey {
  if (!BASE64_KEY.test(text) && !BASE64URL_KEY.test(text)) {
    throw new Error(
      `${name} is not 32 bytes as base64 (44 characters); create one with: openssl rand -base64 32`,
    )
  }
  const secret = Buffer.from(text, 'base64')
  return { secret, id: hkdf(secret, 'heliograph master key id', KEY_ID_BYTES) }
}

function hkdf(secret: Buffer, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), purpose, bytes))
}

async function readKeyFile(path: string): Promise<string | undefined> {
  try {
    const text = await readFile(path, 'utf8')
    if (await isReadableByOthers(path)) {
      throw new Error(
        `The master key file ${path} is open to other users; restrict it with: chmod 600 ${path}`,
      )
    }
    return text
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined
    if (errorCodeOf(error) === 'EACCES')
      throw new Error(
        `The master key file ${path} cannot be read by ${describeUser()}, as whom this process runs: run it as the user who owns that file`,
        { cause: error },
      )
    throw error
  }
}
