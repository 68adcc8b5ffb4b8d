import { describe, expect, test } from 'vitest'
import { createStreamClient, TransmitterError } from '../src/index.ts'

const ISSUER = 'https://transmitter.example.com'

/** What a client says when every request is answered so. */
async function messageOf(answer: () => Response | Promise<Response>): Promise<string> {
  const client = createStreamClient({
    issuer: ISSUER,
    authorization: {
      getAuthorization: () => Promise.resolve('Bearer x'),
      discard: () => undefined,
    },
    fetch: () => Promise.resolve(answer()),
  })
  const error: unknown = await client.listStreams().then(
    () => undefined,
    (caught: unknown) => caught,
  )
  if (error instanceof TransmitterError) return error.message
  throw new Error('it did not fail as expected', { cause: error })
}

const METADATA = `GET ${ISSUER}/.well-known/ssf-configuration`

describe('the message of a failed request names the request and says why', () => {
  test('by the words of the transmitter', async () => {
    const body = JSON.stringify({ err: 'invalid_request', description: 'no such version' })
    const headers = { 'content-type': 'application/json' }
    expect(await messageOf(() => new Response(body, { status: 400, headers }))).toBe(
      `${METADATA}: the transmitter answered 400: invalid_request: no such version`,
    )
  })

  test('on one line of bounded length', async () => {
    const description = `first\r\nsecond\u0000\u202e${'x'.repeat(2_000)}`
    const body = JSON.stringify({ err: 'e', description })
    const headers = { 'content-type': 'application/json' }
    const message = await messageOf(() => new Response(body, { status: 400, headers }))
    expect(message).toContain('first second x')
    expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(message.length).toBeLessThan(500)
  })

  test('when there is no answer', async () => {
    const cause = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })
    expect(await messageOf(() => Promise.reject(cause))).toBe(
      `${METADATA}: the request failed: connect ECONNREFUSED`,
    )
  })

  test.each([
    ['<html>', 'the answer is not JSON'],
    ['{}', /issuer/],
  ])('when the answer is %s', async (text, why) => {
    const message = await messageOf(() => new Response(text))
    expect(message.startsWith(`${METADATA}: `)).toBe(true)
    expect(message).toMatch(why)
  })
})
