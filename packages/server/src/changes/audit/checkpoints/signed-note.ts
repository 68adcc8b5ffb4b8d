/*
 * Signed notes (C2SP signed-note): a text with signatures by named keys, one line each. Owns the form and the
 * two kinds of Ed25519 signatures that a log puts under its checkpoints; what the text says is checkpoint.ts's.
 */
import { createHash, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { SECOND_MS } from '../../../platform/clock.ts'

/** The kinds of signatures, by their byte in key ids: of the text, and of the text with a time. */
const ED25519 = 0x01
/** C2SP tlog-cosignature, Ed25519 signed message. */
const TIMESTAMPED_ED25519 = 0x04

const KEY_ID_BYTES = 4
const TIMESTAMP_BYTES = 8
const PUBLIC_KEY_BYTES = 32
const SIGNATURE_LINE = /^— (\S+) ([A-Za-z0-9+/]+={0,2})$/
const VERIFIER_KEY = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/

/** A public key by the name under which it signs. */
export interface VerifierKey {
  readonly name: string
  /** The Ed25519 key of RFC 8032, 32 bytes. */
  readonly publicKey: Buffer
}

/** A text with its signature lines, not verified. */
export interface SignedNote {
  /** Ends with a newline. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

interface NoteSignature {
  readonly name: string
  readonly keyId: Buffer
  readonly signature: Buffer
}

/** The id of a key: what signature lines and verifier keys name it by. */
export function toKeyId({ name, publicKey }: VerifierKey, kind = ED25519): Buffer {
  const hash = createHash('sha256')
    .update(`${name}\n`)
    .update(Buffer.from([kind]))
  return hash.update(publicKey).digest().subarray(0, KEY_ID_BYTES)
}

/** The key as verifiers are configured with it: the name, the key id and the key. */
export function toVerifierKeyText(key: VerifierKey): string {
  const encoded = Buffer.concat([Buffer.from([ED25519]), key.publicKey]).toString('base64')
  return `${key.name}+${toKeyId(key).toString('hex')}+${encoded}`
}

/** Reads what `toVerifierKeyText` writes; undefined for anything else, also where the key id does not fit. */
export function parseVerifierKey(text: string): VerifierKey | undefined {
  const [, name, keyId, encoded] = VERIFIER_KEY.exec(text.trim()) ?? []
  if (name === undefined || encoded === undefined) return undefined
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes[0] !== ED25519 || bytes.length !== 1 + PUBLIC_KEY_BYTES) return undefined
  const key = { name, publicKey: bytes.subarray(1) }
  return toKeyId(key).toString('hex') === keyId ? key : undefined
}

/** The public half of a private key, as 32 bytes. */
export function toPublicKey(privateKey: KeyObject): Buffer {
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' })
  return Buffer.from(x ?? '', 'base64url')
}

/** A private key by the name under which it signs. */
export interface NoteSigner {
  readonly name: string
  readonly privateKey: KeyObject
}

/**
 * Signs a text that ends with a newline: each key signs the text alone, and the text with the time. The two
 * kinds cannot be taken for each other: what is signed with a time begins with a line that no checkpoint
 * begins with.
 */
export function signNote(text: string, signers: readonly NoteSigner[], at: Date): string {
  const seconds = BigInt(Math.floor(at.getTime() / SECOND_MS))
  const timestamp = Buffer.alloc(TIMESTAMP_BYTES)
  timestamp.writeBigUInt64BE(seconds)
  const lines = signers.flatMap(({ name, privateKey }) => {
    const key = { name, publicKey: toPublicKey(privateKey) }
    const plain = sign(null, Buffer.from(text), privateKey)
    const timed = sign(null, Buffer.from(toTimedText(text, seconds)), privateKey)
    return [
      toSignatureLine(name, toKeyId(key), plain),
      toSignatureLine(name, toKeyId(key, TIMESTAMPED_ED25519), Buffer.concat([timestamp, timed])),
    ]
  })
  return `${text}\n${lines.join('')}`
}

function toSignatureLine(name: string, keyId: Buffer, signature: Buffer): string {
  return `— ${name} ${Buffer.concat([keyId, signature]).toString('base64')}\n`
}

function toTimedText(text: string, seconds: bigint): string {
  return `cosignature/v1\ntime ${seconds}\n${text}`
}

/** Reads a note; undefined for what is none. */
export function parseNote(note: string): SignedNote | undefined {
  const end = note.lastIndexOf('\n\n')
  if (end < 0 || !note.endsWith('\n')) return undefined
  const lines = note.slice(end + 2, -1).split('\n')
  const signatures = lines.flatMap((line) => parseSignature(line) ?? [])
  if (signatures.length < lines.length) return undefined
  return { text: note.slice(0, end + 1), signatures }
}

function parseSignature(line: string): NoteSignature | undefined {
  const [, name, encoded] = SIGNATURE_LINE.exec(line) ?? []
  if (name === undefined || encoded === undefined) return undefined
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.length <= KEY_ID_BYTES) return undefined
  const keyId = bytes.subarray(0, KEY_ID_BYTES)
  return { name, keyId, signature: bytes.subarray(KEY_ID_BYTES) }
}

/** What the signatures of a trusted key say of a note. */
export interface NoteTrust {
  /** When it was signed; undefined when only the text is signed. */
  readonly signedAt: Date | undefined
}

/**
 * Verifies a note: at least one of `keys` must have signed its text, and none of them otherwise than right.
 * Undefined when that is not so. Signatures by other keys are ignored, such as those of witnesses.
 */
export function verifyNote(note: SignedNote, keys: readonly VerifierKey[]): NoteTrust | undefined {
  let isSigned = false
  let signedAt: Date | undefined
  for (const { name, keyId, signature } of note.signatures) {
    for (const key of keys.filter((known) => known.name === name)) {
      if (keyId.equals(toKeyId(key))) {
        if (!isSignature(note.text, key, signature)) return undefined
        isSigned = true
      } else if (keyId.equals(toKeyId(key, TIMESTAMPED_ED25519))) {
        const time = readTime(note.text, key, signature)
        if (time === undefined) return undefined
        signedAt = time
      }
    }
  }
  return isSigned ? { signedAt } : undefined
}

function readTime(text: string, key: VerifierKey, bytes: Buffer): Date | undefined {
  if (bytes.length <= TIMESTAMP_BYTES) return undefined
  const seconds = bytes.readBigUInt64BE()
  const timed = toTimedText(text, seconds)
  if (!isSignature(timed, key, bytes.subarray(TIMESTAMP_BYTES))) return undefined
  return new Date(Number(seconds) * SECOND_MS)
}

function isSignature(text: string, { publicKey }: VerifierKey, signature: Buffer): boolean {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') }
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  return verify(null, Buffer.from(text), key, signature)
}
