/*
 * Checks a signature of a webhook as a receiver does, in the browser: Standard Webhooks, with a shared secret
 * (`v1`) or a key pair (`v1a`).
 */

/** What a receiver got. */
export interface ReceivedWebhook {
  readonly id: string
  readonly timestamp: string
  /** The header: signatures apart by spaces, each `version,base64`. */
  readonly signature: string
  readonly body: string
}

export type SignatureVerdict = 'verified' | 'old' | 'wrong' | 'no-form' | 'bad-secret' | 'no-crypto'

/** How far the time of a delivery may lie off, in seconds. */
const TOLERANCE_SECONDS = 300

/** `key` is the secret (`whsec_…`) or the public key (`whpk_…`). */
export async function verifyWebhook(
  received: ReceivedWebhook,
  key: string,
): Promise<SignatureVerdict> {
  const subtle = (globalThis.crypto as Partial<Crypto>).subtle
  if (subtle === undefined) return 'no-crypto'
  const isPair = key.startsWith('whpk_')
  const keyBytes = toBytes(key.replace(/^wh(sec|pk)_/, ''))
  if (keyBytes === undefined || keyBytes.length === 0) return 'bad-secret'
  const version = isPair ? 'v1a' : 'v1'
  const signatures = received.signature
    .trim()
    .split(/\s+/)
    .flatMap((each) => (each.startsWith(`${version},`) ? [each.slice(version.length + 1)] : []))
  if (signatures.length === 0) return 'no-form'
  const algorithm = isPair ? { name: 'Ed25519' } : { name: 'HMAC', hash: 'SHA-256' }
  const verifier = await subtle.importKey('raw', keyBytes, algorithm, false, ['verify'])
  const signed = new TextEncoder().encode(
    `${received.id.trim()}.${received.timestamp.trim()}.${received.body}`,
  )
  for (const signature of signatures) {
    const bytes = toBytes(signature)
    if (bytes !== undefined && (await subtle.verify(algorithm.name, verifier, bytes, signed))) {
      return isRecent(received.timestamp) ? 'verified' : 'old'
    }
  }
  return 'wrong'
}

function isRecent(timestamp: string): boolean {
  return Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS
}

function toBytes(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64.trim()), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
