/*
 * Receivers' side of webhooks, written after the documents that receivers are written after and not
 * after the service: the reference library, Ed25519 with node:crypto, and the check of the bare hex
 * signature.
 */
import { createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto'
import { Webhook } from 'standardwebhooks'

/** A delivery as a receiver has it. */
export interface Received {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

function headersOf({ headers }: Received): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

/** Throws what the reference library throws. */
export function verifyStandard(received: Received, secret: string, format?: 'raw'): unknown {
  const webhook = new Webhook(secret, format === undefined ? {} : { format })
  return webhook.verify(received.body, headersOf(received))
}

const TOLERANCE_SECONDS = 300
/** An Ed25519 public key in SubjectPublicKeyInfo (RFC 8410 section 4) without its 32 bytes. */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex')

/** Whether one of the `v1a` signatures is of this public key and the delivery is fresh. */
export function verifyEd25519(received: Received, publicKey: string, nowSeconds: number): boolean {
  const headers = headersOf(received)
  const timestamp = Number(headers['webhook-timestamp'])
  if (Math.abs(nowSeconds - timestamp) > TOLERANCE_SECONDS) return false
  const raw = Buffer.from(publicKey.replace(/^whpk_/, ''), 'base64')
  const key = createPublicKey({
    key: Buffer.concat([SPKI_HEAD, raw]),
    format: 'der',
    type: 'spki',
  })
  const signed = Buffer.from(`${headers['webhook-id']}.${timestamp}.${received.body}`)
  return (headers['webhook-signature'] ?? '').split(' ').some((part) => {
    const [version, signature = ''] = part.split(',')
    return version === 'v1a' && verify(null, signed, key, Buffer.from(signature, 'base64'))
  })
}

/** The status that a receiver of the bare form answers: hex decoded, compared in constant time. */
export function answerHex(received: Received, secret: string): 200 | 400 | 403 {
  const header = headersOf(received)['authorization'] ?? ''
  if (!/^(?:[0-9a-f]{2})+$/.test(header)) return 400
  const expected = createHmac('sha256', secret).update(received.body).digest()
  const given = Buffer.from(header, 'hex')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 403
  try {
    const { event, id, timestamp } = JSON.parse(received.body) as Record<string, unknown>
    return [event, id, timestamp].every((value) => typeof value === 'string') ? 200 : 400
  } catch {
    return 400
  }
}
