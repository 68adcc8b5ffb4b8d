import { describe, expect, it } from 'vitest'
import { checkWebhookSignature, type SigningFacts } from './check-webhook-signature.ts'
import { createWebhookSigner, generateWebhookSecret, type SigningForm } from './webhook-secret.ts'

const NOW = new Date('2026-01-02T03:04:05Z')
const TIMESTAMP = Math.floor(NOW.getTime() / 1_000)
const ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV'
const BODY = '{"event":"issues.new"}'

const signerOf = (form: SigningForm) =>
  createWebhookSigner(form, generateWebhookSecret(form).secret)

const signer = signerOf('standard')
const old = signerOf('standard')
const FACTS: SigningFacts = { signers: [old, signer], isHex: false, sentBody: BODY }

const headersBy = (by: typeof signer, timestamp = TIMESTAMP) => ({
  'Webhook-Id': ID,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': by.sign({ id: ID, timestamp, body: BODY }),
})

const check = (
  headers: Readonly<Record<string, string>>,
  body = BODY,
  facts: SigningFacts = FACTS,
): Record<string, string> =>
  Object.fromEntries(
    checkWebhookSignature({ headers, body }, facts, NOW).map((each) => [
      each.check,
      `${each.result}: ${each.message}`,
    ]),
  )

describe('a request of a webhook', () => {
  it('passes every check, also when an old secret that is in use has signed it', () => {
    expect(check(headersBy(signer))).toMatchObject({
      id: expect.stringMatching(/^passed/) as string,
      timestamp: expect.stringMatching(/^passed/) as string,
      signature: 'passed: The signature is of the present secret.',
      body_signature: expect.stringMatching(/^skipped/) as string,
    })
    expect(check(headersBy(old))['signature']).toContain('old secret')
    const both = `v1,AAAA ${headersBy(signer)['webhook-signature']}`
    expect(check({ ...headersBy(signer), 'webhook-signature': both })['signature']).toMatch(
      /^passed/,
    )
  })

  it('passes with a key pair', () => {
    const pair = signerOf('ed25519')
    const facts = { ...FACTS, signers: [pair] }
    expect(check(headersBy(pair), BODY, facts)['signature']).toMatch(/^passed/)
  })

  it('has its body signed besides in the form of hex digits', () => {
    const hex = signerOf('hex')
    const facts = { signers: [hex], isHex: true, sentBody: BODY }
    const headers = { ...headersBy(hex), Authorization: hex.signBody(BODY) ?? '' }
    expect(check(headers, BODY, facts)['body_signature']).toMatch(/^passed/)
    expect(check(headers, `${BODY}x`, facts)['body_signature']).toMatch(/^failed/)
    expect(check(headersBy(hex), BODY, facts)['body_signature']).toMatch(/^skipped/)
  })
})

describe('a check that fails says why', () => {
  it.each([
    ['another secret', headersBy(signerOf('standard')), BODY, 'fits no secret'],
    ['a body that was written anew', headersBy(signer), '{ "event": "issues.new" }', 'raw body'],
    ['white space around the body', headersBy(signer), `${BODY}\r\n `, 'White space'],
    ['no signature', { ...headersBy(signer), 'webhook-signature': '' }, BODY, 'is missing'],
    ['no known form', { ...headersBy(signer), 'webhook-signature': 'abc' }, BODY, 'no signature'],
  ])('for %s', (_name, headers, body, words) => {
    expect(check(headers, body)['signature']).toMatch(/^failed/)
    expect(check(headers, body)['signature']).toContain(words)
  })

  it('for line ends that were changed', () => {
    const body = '{\n}'
    const message = { id: ID, timestamp: TIMESTAMP, body }
    const headers = { ...headersBy(signer), 'webhook-signature': signer.sign(message) }
    expect(check(headers, '{\r\n}')['signature']).toContain('line ends')
  })

  it('for headers that are missing, and checks nothing that needs them', () => {
    const found = check({ 'webhook-signature': 'v1,AAAA' })
    expect(found['id']).toMatch(/^failed/)
    expect(found['timestamp']).toMatch(/^failed/)
    expect(found['signature']).toMatch(/^skipped/)
  })

  it('warns of a request that is no longer taken, and of an event that is not kept', () => {
    const found = check(headersBy(signer, TIMESTAMP - 301), BODY, { ...FACTS, sentBody: undefined })
    expect(found['timestamp']).toMatch(/^warning/)
    expect(found['id']).toMatch(/^warning/)
    expect(found['signature']).toMatch(/^passed/)
  })
})
