/*
 * Says of a request that a receiver has got whether it is a request of a webhook, and if not, which check fails and
 * why. Owns the checks, which are those of Standard Webhooks; secrets stay inside. Pure.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import type { WebhookSigner } from './webhook-secret.ts'

/** What was received. */
export interface ReceivedWebhook {
  /** By name, in any case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What the webhook signs with. */
export interface SigningFacts {
  /** Of the secrets that are in use, the present one last. */
  readonly signers: readonly WebhookSigner[]
  readonly isHex: boolean
  /** What was sent under the id of the request; undefined where nothing is kept of it. */
  readonly sentBody: string | undefined
}

/** The checks, in the order in which a receiver makes them. */
export const SIGNATURE_CHECKS = ['id', 'timestamp', 'signature', 'body_signature'] as const

/** What came of a check: `skipped` where one before it, or the form of the webhook, leaves nothing to check. */
export interface CheckedSignature {
  readonly check: (typeof SIGNATURE_CHECKS)[number]
  readonly result: 'passed' | 'failed' | 'warning' | 'skipped'
  readonly message: string
}

/** Receivers of Standard Webhooks take no request that is older than this. */
const TOLERANCE_MS = 5 * MINUTE_MS

/** Makes every check. It is a request of the webhook when none has failed. */
export function checkWebhookSignature(
  received: ReceivedWebhook,
  facts: SigningFacts,
  now: Date,
): readonly CheckedSignature[] {
  const headers = new Map(
    Object.entries(received.headers).map(([name, value]) => [
      name.trim().toLowerCase(),
      value.trim(),
    ]),
  )
  const id = headers.get('webhook-id')
  const timestamp = headers.get('webhook-timestamp')
  return [
    checkId(id, facts),
    checkTimestamp(timestamp, now),
    checkSignature(
      { id, timestamp, signatures: headers.get('webhook-signature') },
      received.body,
      facts,
    ),
    checkBodySignature(headers.get('authorization'), received.body, facts),
  ]
}

function checkId(id: string | undefined, { sentBody }: SigningFacts): CheckedSignature {
  const check = 'id'
  if (id === undefined || id === '') {
    return { check, result: 'failed', message: 'The header `webhook-id` is missing.' }
  }
  if (sentBody === undefined) {
    const message =
      'Nothing is kept of an event with this id: it is of another service, or deleted.'
    return { check, result: 'warning', message }
  }
  return { check, result: 'passed', message: 'An event with this id has been made.' }
}

function checkTimestamp(timestamp: string | undefined, now: Date): CheckedSignature {
  const check = 'timestamp'
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) {
    const message =
      'The header `webhook-timestamp` is missing, or no whole number of seconds since 1970.'
    return { check, result: 'failed', message }
  }
  const distanceMs = Math.abs(now.getTime() - Number(timestamp) * SECOND_MS)
  if (distanceMs <= TOLERANCE_MS) {
    return { check, result: 'passed', message: 'The request is not older than five minutes.' }
  }
  const message =
    'The request is not of the last five minutes, so that receivers refuse it by now. When it came, it may have been in time; else look at the clock of the receiver.'
  return { check, result: 'warning', message }
}

interface SignedHeaders {
  readonly id: string | undefined
  readonly timestamp: string | undefined
  readonly signatures: string | undefined
}

function checkSignature(
  { id, timestamp, signatures }: SignedHeaders,
  body: string,
  { signers, sentBody }: SigningFacts,
): CheckedSignature {
  const check = 'signature'
  if (signatures === undefined || signatures === '') {
    return { check, result: 'failed', message: 'The header `webhook-signature` is missing.' }
  }
  if (id === undefined || timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) {
    return { check, result: 'skipped', message: 'It cannot be checked without the other headers.' }
  }
  const given = signatures.split(/\s+/)
  if (!given.some((signature) => /^v1a?,[A-Za-z0-9+/]+=*$/.test(signature))) {
    const message = 'The header holds no signature of the form `v1,` or `v1a,` and base64.'
    return { check, result: 'failed', message }
  }
  const isSigned = (text: string) =>
    signers.findIndex((signer) => {
      const expected = signer.sign({ id, timestamp: Number(timestamp), body: text })
      return given.some((signature) => isSame(signature, expected))
    })
  const signer = isSigned(body)
  if (signer >= 0)
    return { check, result: 'passed', message: describeSigner(signer, signers.length) }
  return {
    check,
    result: 'failed',
    message: explainMismatch(body, sentBody, (text) => isSigned(text) >= 0),
  }
}

function describeSigner(index: number, count: number): string {
  return index === count - 1
    ? 'The signature is of the present secret.'
    : 'The signature is of an old secret that is still in use.'
}

/** Bodies are signed as bytes: what a framework makes of them is another text. */
function explainMismatch(
  body: string,
  sentBody: string | undefined,
  isSigned: (text: string) => boolean,
): string {
  if (isSigned(body.replaceAll('\r\n', '\n'))) {
    return 'The line ends of the body were changed: the signature fits the body with `\\n`.'
  }
  if (isSigned(body.trim())) {
    return 'White space was added around the body: the signature fits it without.'
  }
  if (sentBody !== undefined && isSigned(sentBody)) {
    return 'The body is not the bytes that were sent, for which the signature fits. Verify the raw body, before it is parsed.'
  }
  return 'The signature fits no secret of this webhook: it was made with another one, or the id, the time or the body was changed.'
}

function checkBodySignature(
  authorization: string | undefined,
  body: string,
  { isHex, signers }: SigningFacts,
): CheckedSignature {
  const check = 'body_signature'
  if (!isHex) {
    const message = 'Webhooks of this form carry no signature in `Authorization`.'
    return { check, result: 'skipped', message }
  }
  if (authorization === undefined) {
    const message = 'The header `Authorization` was not given; it signs the body alone.'
    return { check, result: 'skipped', message }
  }
  const fits = signers.some((signer) => isSame(authorization, signer.signBody(body) ?? ''))
  return fits
    ? { check, result: 'passed', message: 'The signature of the body fits.' }
    : {
        check,
        result: 'failed',
        message: 'The signature of the body fits no secret of this webhook.',
      }
}

/** In a time that tells nothing of where the texts differ. */
function isSame(left: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(left), digest(right))
}
