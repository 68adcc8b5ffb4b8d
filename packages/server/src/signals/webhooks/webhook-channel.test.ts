import { expect, it } from 'vitest'
import type { OutboundResult } from '../../platform/net/outbound-result.ts'
import { WEBHOOK_RETRY_DELAYS_MS } from './webhook-channel.ts'
import { classifyWebhook } from './webhook-channel.ts'

const timings = {
  dnsMs: null,
  connectMs: null,
  tlsMs: null,
  firstByteMs: 1,
  totalMs: 2,
  reusedConnection: false,
}

function answered(status: number): OutboundResult {
  return {
    kind: 'response',
    status,
    headers: {},
    body: Buffer.from('anything'),
    bodyTruncated: false,
    remoteAddress: '127.0.0.1',
    timings,
  }
}

it.each([200, 201, 202, 204, 299])('takes %s for success', (status) => {
  expect(classifyWebhook(answered(status))).toEqual({ kind: 'accepted' })
})

it('takes 410 for the end of the webhook', () => {
  expect(classifyWebhook(answered(410))).toMatchObject({ kind: 'gone', errorCode: 'http_410' })
})

it.each([301, 302, 307, 308])('takes the redirect %s for a failure and says why', (status) => {
  const verdict = classifyWebhook(answered(status))
  expect(verdict).toMatchObject({ kind: 'retry', isOverloaded: false })
  expect(JSON.stringify(verdict)).toContain('redirects are not followed')
})

it.each([429, 502, 503, 504])('pauses for a receiver that answers %s', (status) => {
  expect(classifyWebhook(answered(status))).toMatchObject({ kind: 'retry', isOverloaded: true })
})

it.each([400, 401, 403, 404, 500, 199])('tries again after %s', (status) => {
  expect(classifyWebhook(answered(status))).toMatchObject({ kind: 'retry', isOverloaded: false })
})

it('takes a 2xx for success and 410 for the end although the body never ended', () => {
  const unfinished = {
    kind: 'failed',
    stage: 'body',
    code: 'body_timeout',
    message: 'no',
    retryable: true,
    remoteAddress: undefined,
    timings,
  } as const
  expect(classifyWebhook({ ...unfinished, status: 200 })).toEqual({ kind: 'accepted' })
  expect(classifyWebhook({ ...unfinished, status: 410 })).toMatchObject({ kind: 'gone' })
  expect(classifyWebhook({ ...unfinished, status: 500 })).toMatchObject({ kind: 'retry' })
})

it('tries again after a failure of the network, in the words of the network', () => {
  const verdict = classifyWebhook({
    kind: 'failed',
    stage: 'refused',
    code: 'address_not_public',
    message: 'The name resolves to a private address',
    retryable: false,
    status: undefined,
    remoteAddress: undefined,
    timings,
  })
  expect(verdict).toEqual({
    kind: 'retry',
    errorCode: 'address_not_public',
    error: 'The name resolves to a private address',
    isOverloaded: false,
  })
})

it('makes ten attempts over about 75 hours', () => {
  expect(WEBHOOK_RETRY_DELAYS_MS).toHaveLength(9)
  const totalHours = WEBHOOK_RETRY_DELAYS_MS.reduce((sum, delay) => sum + delay, 0) / 3_600_000
  expect(totalHours).toBeCloseTo(75.6, 1)
})
