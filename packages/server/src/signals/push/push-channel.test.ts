import { describe, expect, it } from 'vitest'
import type { OutboundResult } from '../../platform/net/outbound-result.ts'
import { findAuthorizationHeaderProblem } from './authorization-header.ts'
import { classifyPush } from './push-channel.ts'

const timings = {
  dnsMs: null,
  connectMs: null,
  tlsMs: null,
  firstByteMs: 1,
  totalMs: 1,
  reusedConnection: true,
}

function response(status: number, body = '', contentType = 'application/json'): OutboundResult {
  return {
    kind: 'response',
    status,
    headers: { 'content-type': contentType },
    body: Buffer.from(body),
    bodyTruncated: false,
    remoteAddress: '192.0.2.1',
    timings,
  }
}

function failure(retryable: boolean): OutboundResult {
  return {
    kind: 'failed',
    stage: retryable ? 'connect' : 'refused',
    code: retryable ? 'connection_refused' : 'target_refused',
    message: 'no',
    retryable,
    status: undefined,
    remoteAddress: undefined,
    timings,
  }
}

describe('the answer to a push', () => {
  it.each([200, 202, 204, 299])('ssf-T119 %i is acceptance', (status) => {
    expect(classifyPush(response(status)).kind).toBe('accepted')
  })

  it.each([301, 307, 401, 403, 407, 408, 425, 429, 500, 502, 503, 504])(
    '%i is tried again',
    (status) => expect(classifyPush(response(status)).kind).toBe('retry'),
  )

  it.each([400, 404, 405, 410, 413, 415, 422])('ssf-T121 %i is final', (status) => {
    expect(classifyPush(response(status)).kind).toBe('rejected')
  })

  it.each([
    ['invalid_request', 'rejected'],
    ['invalid_key', 'rejected'],
    ['invalid_issuer', 'rejected'],
    ['invalid_audience', 'rejected'],
    ['invalid_state', 'rejected'],
    ['authentication_failed', 'retry'],
    ['access_denied', 'retry'],
  ])('ssf-T120 400 with %s is %s (RFC 8935 section 2.4)', (err, kind) => {
    const verdict = classifyPush(response(400, JSON.stringify({ err, description: 'why' })))
    expect(verdict).toMatchObject({ kind, errorCode: err })
    expect(verdict).toHaveProperty('error', `The receiver answered 400 (${err}: why)`)
  })

  it('is acceptance by its status, although its body never ended', () => {
    expect(classifyPush({ ...failure(true), status: 202 })).toEqual({ kind: 'accepted' })
    expect(classifyPush({ ...failure(true), status: 500 })).toMatchObject({ kind: 'retry' })
  })

  it('is tried again when the network failed, and final when it can never be sent', () => {
    expect(classifyPush(failure(true))).toMatchObject({ kind: 'retry' })
    expect(classifyPush(failure(false))).toMatchObject({ kind: 'rejected' })
  })

  it.each([429, 503])('ssf-T122 %i pauses the receiver as a whole', (status) => {
    expect(classifyPush(response(status))).toMatchObject({ isOverloaded: true })
    expect(classifyPush(response(500))).toMatchObject({ isOverloaded: false })
  })

  it('that is no JSON is understood by its status', () => {
    expect(classifyPush(response(400, '<html>', 'text/html'))).toEqual({
      kind: 'rejected',
      errorCode: 'http_400',
      error: 'The receiver answered 400',
    })
  })
})

describe('authorization header', () => {
  it.each(['Bearer abc', 'abc', 'Basic dTpw', 'Custom a=1, b="2"'])('takes %j', (value) => {
    expect(findAuthorizationHeaderProblem(value)).toBeUndefined()
  })

  it.each(['a\r\nX: 1', 'a\nb', 'a\0b', ' a', 'a ', 'é', 'x'.repeat(5_000)])(
    'refuses %j',
    (value) => expect(findAuthorizationHeaderProblem(value)).toBeDefined(),
  )
})
