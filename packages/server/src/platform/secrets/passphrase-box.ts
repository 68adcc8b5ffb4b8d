/**
 * Seals a few bytes under a passphrase, for what leaves the machine: the key is derived with scrypt (RFC 7914), the
 * content sealed with AES-256-GCM. Whatever is bound to it must be given again, unchanged, to open it.
 */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { z } from 'zod'

const KIB = 1_024
const KEY_BYTES = 32
const SALT_BYTES = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** 128 MiB and about half a second for each guess: the first choice of the OWASP Password Storage Cheat Sheet. */
const COST = { n: 128 * KIB, r: 8, p: 1 } as const
/** What is read from elsewhere may not ask for more memory than this. */
const MEMORY_BYTES_MAX = 1_024 * KIB * KIB

/** The shortest passphrase that is taken. */
export const PASSPHRASE_LENGTH_MIN = 12

const base64 = z.base64().max(64 * KIB)

/** A sealed text as JSON; all bytes in base64. */
export const passphraseBoxSchema = z.strictObject({
  kdf: z.literal('scrypt'),
  n: z
    .int()
    .min(2)
    .max(2 ** 24),
  r: z.int().min(1).max(64),
  p: z.int().min(1).max(16),
  salt: base64,
  cipher: z.literal('aes-256-gcm'),
  nonce: base64,
  /** Followed by the authentication tag of 16 bytes. */
  ciphertext: base64,
})

export type PassphraseBox = z.infer<typeof passphraseBoxSchema>

/** Seals a text; never gives the same bytes twice. `boundTo` is not in the box, and authenticated with it. */
export async function sealWithPassphrase(
  text: string,
  passphrase: string,
  boundTo: Uint8Array,
): Promise<PassphraseBox> {
  const salt = randomBytes(SALT_BYTES)
  const nonce = randomBytes(NONCE_BYTES)
  const key = await deriveKey(passphrase, salt, COST)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(boundTo)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return {
    kdf: 'scrypt',
    ...COST,
    salt: salt.toString('base64'),
    cipher: 'aes-256-gcm',
    nonce: nonce.toString('base64'),
    ciphertext: sealed.toString('base64'),
  }
}

/** The text; undefined for a wrong passphrase, and for anything that was altered. */
export async function openWithPassphrase(
  box: PassphraseBox,
  passphrase: string,
  boundTo: Uint8Array,
): Promise<string | undefined> {
  const key = await deriveKey(passphrase, Buffer.from(box.salt, 'base64'), box).catch(
    () => undefined,
  )
  const nonce = Buffer.from(box.nonce, 'base64')
  const sealed = Buffer.from(box.ciphertext, 'base64')
  if (key === undefined || nonce.length !== NONCE_BYTES || sealed.length < TAG_BYTES)
    return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(boundTo)
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
  try {
    const content = decipher.update(sealed.subarray(0, sealed.length - TAG_BYTES))
    return Buffer.concat([content, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

/** The same characters give the same key, however a keyboard composes them (RFC 8265 section 4.2). */
function deriveKey(
  passphrase: string,
  salt: Buffer,
  { n, r, p }: Pick<PassphraseBox, 'n' | 'r' | 'p'>,
): Promise<Buffer> {
  // RFC 7914 section 6: 128 · N · r bytes, and some more for the blocks.
  const maxmem = Math.min(MEMORY_BYTES_MAX, 128 * n * r + 128 * r * p + 4 * KIB * KIB)
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFC'), salt, KEY_BYTES, { N: n, r, p, maxmem }, (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })
}
