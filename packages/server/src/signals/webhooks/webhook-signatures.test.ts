import { describe, expect, it } from 'vitest'
import {
  answerHex,
  verifyEd25519,
  verifyStandard,
  type Received,
} from '../../../test/support/webhook-verifiers.ts'
import { systemClock, toEpochSeconds } from '../../platform/clock.ts'
import { toNewEvent } from './webhook-publisher.ts'
import { createWebhookSigner, generateWebhookSecret, type SigningForm } from './webhook-secret.ts'
import { toWebhookRequest } from './webhook-target.ts'

const now = systemClock.now()
const ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV'
const { body } = toNewEvent(
  { type: 'webhook.test', object: null, occurredAt: now, data: { message: 'Ünïcode ✓' } },
  ID,
)

function send(form: SigningForm, secrets: readonly string[], at = now): Received {
  const request = toWebhookRequest(
    {
      webhookId: '1',
      url: 'https://receiver.example.com/',
      identifier: 'id-1',
      headers: { 'X-Team': 'desk' },
      secrets,
      signers: secrets.map((secret) => createWebhookSigner(form, secret)),
      isHex: form === 'hex',
    },
    { eventId: ID, body },
    at,
  )
  return { headers: request.headers ?? {}, body: String(request.body) }
}

const changed = ({ headers, body: text }: Received): Received => ({
  headers,
  body: text.replace('✓', '✗'),
})
const longAgo = new Date(now.getTime() - 301_000)

describe('the standard form', () => {
  const { secret } = generateWebhookSecret('standard')

  it('is accepted by the reference library', () => {
    expect(verifyStandard(send('standard', [secret]), secret)).toEqual(JSON.parse(body))
  })

  it('is refused by it with a changed byte, a stale timestamp, another id or another secret', () => {
    const received = send('standard', [secret])
    expect(() => verifyStandard(changed(received), secret)).toThrow('No matching signature')
    expect(() => verifyStandard(send('standard', [secret], longAgo), secret)).toThrow('too old')
    const otherId = { ...received, headers: { ...received.headers, 'webhook-id': 'other' } }
    expect(() => verifyStandard(otherId, secret)).toThrow('No matching signature')
    const other = generateWebhookSecret('standard').secret
    expect(() => verifyStandard(received, other)).toThrow('No matching signature')
  })

  it('is accepted with the old and with the new secret while both are in use', () => {
    const next = generateWebhookSecret('standard').secret
    const received = send('standard', [secret, next])
    expect(() => verifyStandard(received, secret)).not.toThrow()
    expect(() => verifyStandard(received, next)).not.toThrow()
  })

  it('leaves Authorization to the receiver', () => {
    expect(send('standard', [secret]).headers).not.toHaveProperty('authorization')
  })
})

describe('the form with a key pair', () => {
  const { secret, publicKey } = generateWebhookSecret('ed25519')
  const nowSeconds = toEpochSeconds(now)

  it('is accepted with the public key', () => {
    expect(verifyEd25519(send('ed25519', [secret]), publicKey ?? '', nowSeconds)).toBe(true)
  })

  it('is refused with a changed byte, a stale timestamp or another key', () => {
    const received = send('ed25519', [secret])
    expect(verifyEd25519(changed(received), publicKey ?? '', nowSeconds)).toBe(false)
    expect(verifyEd25519(send('ed25519', [secret], longAgo), publicKey ?? '', nowSeconds)).toBe(
      false,
    )
    const other = generateWebhookSecret('ed25519').publicKey ?? ''
    expect(verifyEd25519(received, other, nowSeconds)).toBe(false)
  })

  it('is accepted with the old and with the new key while both are in use', () => {
    const next = generateWebhookSecret('ed25519')
    const received = send('ed25519', [secret, next.secret])
    expect(verifyEd25519(received, publicKey ?? '', nowSeconds)).toBe(true)
    expect(verifyEd25519(received, next.publicKey ?? '', nowSeconds)).toBe(true)
  })

  it('has private keys of 64 bytes, which end in the public key', () => {
    const bytes = Buffer.from(secret.replace(/^whsk_/, ''), 'base64')
    expect(bytes).toHaveLength(64)
    expect(`whpk_${bytes.subarray(32).toString('base64')}`).toBe(publicKey)
  })
})

describe('the hex form', () => {
  const { secret } = generateWebhookSecret('hex')

  it('is accepted by a receiver of the bare signature: lower-case hex and nothing else', () => {
    const received = send('hex', [secret])
    expect(received.headers['authorization']).toMatch(/^[0-9a-f]{64}$/)
    expect(answerHex(received, secret)).toBe(200)
  })

  it('is refused by it with a changed byte or another secret', () => {
    const received = send('hex', [secret])
    expect(answerHex(changed(received), secret)).toBe(403)
    expect(answerHex(received, generateWebhookSecret('hex').secret)).toBe(403)
  })

  it('can be verified as the standard form too, with the same secret', () => {
    const received = send('hex', [secret])
    expect(verifyStandard(received, secret, 'raw')).toEqual(JSON.parse(body))
    expect(() => verifyStandard(changed(received), secret, 'raw')).toThrow('No matching signature')
  })

  it('is signed with the old secret until that ends, and in the standard header with both', () => {
    const next = generateWebhookSecret('hex').secret
    const received = send('hex', [secret, next])
    expect(answerHex(received, secret)).toBe(200)
    expect(() => verifyStandard(received, next, 'raw')).not.toThrow()
  })
})

it('has new secrets every time', () => {
  const secrets = (['standard', 'ed25519', 'hex'] as const).flatMap((form) =>
    Array.from({ length: 20 }, () => generateWebhookSecret(form).secret),
  )
  expect(new Set(secrets).size).toBe(secrets.length)
})
