/**
 * Seals secrets for the database: AES-256-GCM under a random data key per secret, the data key wrapped under a
 * key derived from the master key. A sealed secret opens only in the table, column and row it was sealed for.
 *
 * Layout, version 1, all lengths in bytes:
 *
 *     1   version: 1
 *     4   id of the master key
 *    40   data key, wrapped with AES-256 key wrap (RFC 3394), which needs no nonce
 *    12   nonce
 *     n   ciphertext, as long as the secret
 *    16   authentication tag; covers the version and the context too
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { deriveKey, type MasterKey, type MasterKeys } from './master-key.ts'

/** Where a sealed secret lives; it must be given again, unchanged, to open it. */
export interface SealContext {
  readonly table: string
  readonly column: string
  readonly id: string
}

export interface Sealer {
  /** Never gives the same bytes twice. */
  seal(plaintext: string | Uint8Array, context: SealContext): Buffer
  /** The secret as bytes. Throws `UnsealError`. */
  open(sealed: Uint8Array, context: SealContext): Buffer
  /** The secret as UTF-8 text. Throws `UnsealError`. */
  openText(sealed: Uint8Array, context: SealContext): string
  /** True when it was sealed under a master key that is no longer the current one. */
  needsRewrap(sealed: Uint8Array): boolean
  /** The same secret under the current master key; the secret itself is not decrypted. Throws `UnsealError`. */
  rewrap(sealed: Uint8Array): Buffer
}

/**
 * Why a sealed secret does not open: `malformed` bytes, an `unknown_key` (the master key has been lost or
 * changed), or `not_authentic` (altered, or sealed for another row).
 */
export type UnsealFailure = 'malformed' | 'unknown_key' | 'not_authentic'

/** Not a client's mistake: the database, the master key or the code is wrong. */
export class UnsealError extends Error {
  readonly failure: UnsealFailure

  constructor(failure: UnsealFailure, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'UnsealError'
    this.failure = failure
  }
}

const VERSION = 1
const KEY_ID_BYTES = 4
const DATA_KEY_BYTES = 32
const WRAPPED_KEY_BYTES = 40
const NONCE_BYTES = 12
const TAG_BYTES = 16
const WRAPPED_KEY_AT = 1 + KEY_ID_BYTES
const NONCE_AT = WRAPPED_KEY_AT + WRAPPED_KEY_BYTES
const CIPHERTEXT_AT = NONCE_AT + NONCE_BYTES

/** The initial value of RFC 3394 section 2.2.3.1. */
const WRAP_INITIAL_VALUE = Buffer.alloc(8, 0xa6)

/** The sealer for these master keys; creating it derives the wrapping keys once. */
export function createSealer(masterKeys: MasterKeys): Sealer {
  const wrappingKeys = new Map(
    [...masterKeys.previous, masterKeys.current].map((key) => [
      key.id.toString('hex'),
      wrappingKeyOf(key),
    ]),
  )
  const currentId = masterKeys.current.id
  const currentWrappingKey = wrappingKeyOf(masterKeys.current)

  function unwrapDataKey(sealed: Buffer): Buffer {
    const wrappingKey = wrappingKeys.get(keyIdOf(sealed).toString('hex'))
    if (wrappingKey === undefined) {
      throw new UnsealError(
        'unknown_key',
        `Sealed under the master key ${keyIdOf(sealed).toString('hex')}, which is not configured`,
      )
    }
    return unwrap(wrappingKey, sealed.subarray(WRAPPED_KEY_AT, NONCE_AT))
  }

  function open(bytes: Uint8Array, context: SealContext): Buffer {
    const sealed = checkLayout(bytes)
    const dataKey = unwrapDataKey(sealed)
    const decipher = createDecipheriv(
      'aes-256-gcm',
      dataKey,
      sealed.subarray(NONCE_AT, CIPHERTEXT_AT),
      {
        authTagLength: TAG_BYTES,
      },
    )
    decipher.setAAD(associatedData(context))
    decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
    try {
      const ciphertext = sealed.subarray(CIPHERTEXT_AT, sealed.length - TAG_BYTES)
      return Buffer.concat([decipher.update(ciphertext), decipher.final()])
    } catch (error) {
      throw new UnsealError(
        'not_authentic',
        `Not sealed for ${context.table}.${context.column}, or altered`,
        error,
      )
    }
  }

  return {
    open,
    openText: (sealed, context) => open(sealed, context).toString('utf8'),
    seal(plaintext, context) {
      const dataKey = randomBytes(DATA_KEY_BYTES)
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', dataKey, nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(associatedData(context))
      const bytes = typeof plaintext === 'string' ? Buffer.from(plaintext) : plaintext
      const ciphertext = Buffer.concat([cipher.update(bytes), cipher.final()])
      const head = [Buffer.from([VERSION]), currentId, wrap(currentWrappingKey, dataKey), nonce]
      return Buffer.concat([...head, ciphertext, cipher.getAuthTag()])
    },
    needsRewrap: (sealed) => !keyIdOf(checkLayout(sealed)).equals(currentId),
    rewrap(bytes) {
      const sealed = checkLayout(bytes)
      const wrapped = wrap(currentWrappingKey, unwrapDataKey(sealed))
      return Buffer.concat([sealed.subarray(0, 1), currentId, wrapped, sealed.subarray(NONCE_AT)])
    },
  }
}

function checkLayout(bytes: Uint8Array): Buffer {
  const sealed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (sealed[0] !== VERSION || sealed.length < CIPHERTEXT_AT + TAG_BYTES) {
    throw new UnsealError('malformed', 'Not a sealed secret of a version that this release knows')
  }
  return sealed
}

function keyIdOf(sealed: Buffer): Buffer {
  return sealed.subarray(1, WRAPPED_KEY_AT)
}

function wrappingKeyOf(masterKey: MasterKey): Buffer {
  return deriveKey(masterKey, 'heliograph sealed box v1')
}

function wrap(wrappingKey: Buffer, dataKey: Buffer): Buffer {
  const cipher = createCipheriv('id-aes256-wrap', wrappingKey, WRAP_INITIAL_VALUE)
  return Buffer.concat([cipher.update(dataKey), cipher.final()])
}

function unwrap(wrappingKey: Buffer, wrapped: Buffer): Buffer {
  try {
    const decipher = createDecipheriv('id-aes256-wrap', wrappingKey, WRAP_INITIAL_VALUE)
    return Buffer.concat([decipher.update(wrapped), decipher.final()])
  } catch (error) {
    throw new UnsealError('not_authentic', 'The wrapped data key has been altered', error)
  }
}

/** Length prefixes keep `a` + `bc` apart from `ab` + `c`. */
function associatedData({ table, column, id }: SealContext): Buffer {
  const parts = [table, column, id].flatMap((part) => {
    const bytes = Buffer.from(part)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    return [length, bytes]
  })
  return Buffer.concat([Buffer.from([VERSION]), ...parts])
}
