import { request as sendRequest } from 'node:http'
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { PushHandler } from '../src/index.ts'
import { toNodeHandler } from '../src/node.ts'
import { serveOnLoopback, type LoopbackServer } from './support/loopback-server.ts'

let server: LoopbackServer | undefined

afterEach(async () => {
  await server?.close()
  server = undefined
})

async function serve(handler: PushHandler): Promise<string> {
  server = await serveOnLoopback(toNodeHandler(handler))
  return server.url
}

async function warningsOf(work: () => Promise<void>): Promise<string[]> {
  const warnings: string[] = []
  const note = ({ message }: Error) => warnings.push(message)
  process.on('warning', note)
  await work().finally(() => process.off('warning', note))
  return warnings
}

test('method, headers, body and answer pass through unchanged', async () => {
  const url = await serve(async (request) =>
    Response.json(
      {
        method: request.method,
        path: new URL(request.url).pathname,
        authorization: request.headers.get('authorization'),
        body: await request.text(),
      },
      { status: 400, headers: { 'content-language': 'en' } },
    ),
  )
  const response = await fetch(`${url}/events?x=1`, {
    method: 'POST',
    headers: { authorization: 'Bearer a' },
    body: 'token',
  })
  expect(response.status).toBe(400)
  expect(response.headers.get('content-language')).toBe('en')
  expect(await response.json()).toEqual({
    method: 'POST',
    path: '/events',
    authorization: 'Bearer a',
    body: 'token',
  })
})

test('a sender of an endless body gets its answer and loses the connection', async () => {
  const url = await serve(() => Promise.resolve(new Response(null, { status: 413 })))
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let text = ''
    socket.on('data', (data) => (text += data.toString()))
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\nstart')
  })
  expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  expect(answer.toLowerCase()).toContain('connection: close')
})

test('a handler that rejects gives 500 without saying why, and is warned of once', async () => {
  const url = await serve(() => Promise.reject(new Error('secret')))
  const warnings = await warningsOf(async () => {
    for (let push = 0; push < 2; push += 1) {
      const response = await fetch(url, { method: 'POST', body: 'x' })
      expect(response.status).toBe(500)
      expect(await response.text()).toBe('')
    }
  })
  expect(warnings).toEqual(['a push could not be handled: Error: secret'])
})

test('a handler that rejects with what has no text gives 500 all the same', async () => {
  const url = await serve(() => Promise.reject(Object.create(null) as Error))
  const warnings = await warningsOf(async () => {
    expect((await fetch(url, { method: 'POST', body: 'x' })).status).toBe(500)
    await new Promise((resolve) => setImmediate(resolve))
  })
  expect(warnings).toEqual([expect.stringContaining('has no text')])
})

test('a body that something else has read refuses no SET for good, and is warned of once', async () => {
  const handler = toNodeHandler(() => Promise.resolve(new Response(null, { status: 400 })))
  server = await serveOnLoopback((incoming, outgoing) => {
    incoming.resume().once('end', () => handler(incoming, outgoing))
  })
  const { url } = server
  const warnings = await warningsOf(async () => {
    for (let push = 0; push < 2; push += 1) {
      const { status } = await fetch(url, { method: 'POST', body: 'x' })
      expect(status).toBe(500)
    }
  })
  expect(warnings).toEqual([expect.stringContaining('before any body parser')])
})

test('a method that no Request can have is refused as a method', async () => {
  const url = await serve(() => Promise.resolve(new Response(null, { status: 202 })))
  const answer = await new Promise((resolve, reject) => {
    sendRequest(url, { method: 'TRACE' }, (response) => {
      response.resume()
      resolve({ status: response.statusCode, allow: response.headers.allow })
    })
      .on('error', reject)
      .end()
  })
  expect(answer).toEqual({ status: 405, allow: 'POST' })
})

test('a strange request target reaches the handler as the root', async () => {
  const url = await serve((request) => Promise.resolve(new Response(new URL(request.url).pathname)))
  const port = Number(new URL(url).port)
  const paths = ['//evil.example.com/x', '/\\[', '/\\evil.example.com/x', '*', 'http://[/']
  const warnings = await warningsOf(async () => {
    for (const path of paths) {
      const answer = await new Promise<string>((resolve, reject) => {
        const socket = connect(port, '127.0.0.1')
        let text = ''
        socket.on('data', (data) => (text += data.toString()))
        socket.on('close', () => resolve(text))
        socket.on('error', reject)
        socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
      })
      expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\n\/$/)
    }
  })
  expect(warnings).toEqual([])
})
