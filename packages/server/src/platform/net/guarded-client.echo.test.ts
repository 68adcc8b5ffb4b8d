import { afterEach, describe, expect, it } from 'vitest'
import { answered, cleanUp, clientWith, post, readBody, serve } from './test/loopback.ts'

afterEach(cleanUp)

const SECRET = 'correct horse/battery+staple'
const PASSWORD = `Basic ${Buffer.from(`heliograph:${SECRET}`).toString('base64')}`

/** Answers with everything that it was sent, in headers and body, as debugging receivers do. */
const echo = () =>
  serve((request, response) => {
    void readBody(request).then((body) => {
      const { authorization = '', 'x-tenant-key': key = '' } = request.headers
      response.writeHead(200, {
        'content-type': 'application/json',
        'x-echo': authorization,
        'x-more': [`a=${encodeURIComponent(String(key))}`, 'b=1'],
      })
      response.end(
        JSON.stringify({ headers: request.headers, form: body, traceparent: '00-ab-01' }),
      )
    })
  })

describe('an answer that repeats its request', () => {
  it('comes without what lets anybody in, and with everything else', async () => {
    const port = await echo()
    const request = post(port, {
      headers: {
        authorization: `Bearer ${SECRET}`,
        'x-tenant-key': 'sk_live_0123456789',
        'x-event-id': 'evt_1',
        traceparent: '00-ab-01',
      },
      openHeaders: ['x-event-id'],
      secrets: ['whsec_0123'],
      body: 'id=1&secret=whsec_0123',
    })
    const { headers, body } = await answered(clientWith(), request)
    expect(headers).toMatchObject({ 'x-echo': '[masked]', 'x-more': ['a=[masked]', 'b=1'] })
    expect(JSON.parse(body.toString())).toMatchObject({
      headers: {
        authorization: '[masked]',
        'x-tenant-key': '[masked]',
        'x-event-id': 'evt_1',
        traceparent: '00-ab-01',
      },
      form: 'id=1&secret=[masked]',
    })
  })

  it('shows no secret of a request that shares its headers with another one', async () => {
    const port = await echo()
    const headers: Record<string, string> = { authorization: `Bearer ${SECRET}` }
    const client = clientWith()
    const bodyOf = async (secrets?: readonly string[]) => {
      const request = post(port, { headers, body: 'whsec_0123', ...(secrets && { secrets }) })
      return (await answered(client, request)).body.toString()
    }
    for (let times = 0; times < 2; times += 1) {
      expect(await bodyOf()).not.toContain(SECRET)
      expect(await bodyOf(['whsec_0123'])).not.toMatch(/whsec_0123|horse/)
    }
    expect(() => {
      headers['authorization'] = 'Bearer another secret'
    }).toThrow(TypeError)
  })

  it('shows no password, decoded or not', async () => {
    const port = await serve((request, response) => {
      const [, pair = ''] = (request.headers.authorization ?? '').split(' ')
      const [user, password] = Buffer.from(pair, 'base64').toString().split(':')
      response.end(`${pair} ${user} ${password}`)
    })
    const { body } = await answered(
      clientWith(),
      post(port, { headers: { authorization: PASSWORD } }),
    )
    expect(body.toString()).toBe('[masked] heliograph [masked]')
  })

  it('shows no beginning of a secret where the answer is cut', async () => {
    const port = await serve((request, response) => {
      response.end(`${'.'.repeat(90)}${request.headers.authorization}`)
    })
    const client = clientWith({ limits: { bodyBytesMax: 110 } })
    const request = post(port, { headers: { authorization: `Bearer ${SECRET}` } })
    const { body, bodyTruncated } = await answered(client, request)
    expect(bodyTruncated).toBe(true)
    expect(body.toString()).toBe(`${'.'.repeat(90)}[masked]`)
  })

  it('is handed over as it is only to a caller who reads credentials from it', async () => {
    const port = await echo()
    const request = post(port, {
      headers: { authorization: `Bearer ${SECRET}` },
      isAnswerConfidential: true,
    })
    const { body } = await answered(clientWith(), request)
    expect(body.toString()).toContain(SECRET)
  })
})
