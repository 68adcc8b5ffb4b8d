import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DELIVERY_METHOD_PUSH, DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import fetchHandler from '../../examples/fetch-handler.ts'
import { createClientCredentials, createStreamClient } from '../../src/index.ts'
import { toNodeHandler } from '../../src/node.ts'
import { serveOnLoopback } from '../support/loopback-server.ts'
import { AUDIENCE } from '../support/signing.ts'
import {
  CLIENT_ID,
  CLIENT_SECRET,
  startTransmitterDouble,
  type TransmitterDouble,
} from '../support/transmitter-double.ts'

const EXAMPLES = join(import.meta.dirname, '../../examples')
const AUTHORIZATION = 'Bearer given-to-the-stream'

let double: TransmitterDouble
let folder: string
let running: ChildProcess[]

beforeEach(async () => {
  double = await startTransmitterDouble()
  folder = await mkdtemp(join(tmpdir(), 'receiver-examples-'))
  running = []
})

afterEach(async () => {
  for (const child of running.filter(({ exitCode }) => exitCode === null)) {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await double.close()
  await rm(folder, { recursive: true })
})

interface Example {
  /** Resolves with the first line, of all that were printed, that has this member. */
  lineWith(member: string): Promise<Record<string, unknown>>
  stop(): Promise<number | null>
}

function startExample(name: string, environment: Record<string, string>): Example {
  const child = spawn(process.execPath, ['--conditions=source', join(EXAMPLES, name)], {
    env: { PATH: process.env['PATH'], STATE_FOLDER: folder, ISSUER: double.issuer, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.push(child)
  const lines: Record<string, unknown>[] = []
  let complaints = ''
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(JSON.parse(line) as Record<string, unknown>)
  })
  return {
    async lineWith(member) {
      for (;;) {
        const index = lines.findIndex((line) => member in line)
        if (index >= 0) return lines.splice(index, 1)[0] ?? {}
        if (child.exitCode !== null) throw new Error(`it ended: ${complaints}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    async stop() {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
      return child.exitCode
    },
  }
}

async function createPushStream(url: string): Promise<string> {
  const client = createStreamClient({
    issuer: double.issuer,
    authorization: createClientCredentials({
      tokenEndpoint: `${double.issuer}/token`,
      clientId: CLIENT_ID,
      authentication: { method: 'client_secret_post', clientSecret: CLIENT_SECRET },
    }),
  })
  const { stream_id } = await client.createStream({
    events_requested: [DEVICE_COMPLIANCE_CHANGE],
    delivery: {
      method: DELIVERY_METHOD_PUSH,
      endpoint_url: url,
      authorization_header: AUTHORIZATION,
    },
  })
  return stream_id
}

function changeOf(sub: string, current: 'compliant' | 'not-compliant', jti: string) {
  return {
    jti,
    subject: { format: 'iss_sub', iss: double.issuer, sub } as const,
    payload: {
      previous_status: current === 'compliant' ? 'not-compliant' : 'compliant',
      current_status: current,
      event_timestamp: Math.floor(Date.now() / 1000),
    },
  }
}

describe('the Express example', () => {
  const environment = { AUDIENCE, PUSH_AUTHORIZATION: AUTHORIZATION, PORT: '0' }

  async function start() {
    const example = startExample('express-server.ts', environment)
    const { listening } = await example.lineWith('listening')
    return { example, url: `http://127.0.0.1:${String(listening)}` }
  }

  test('verifies events, knows devices over a restart, and handles each event once', async () => {
    const first = await start()
    const streamId = await createPushStream(`${first.url}/events`)
    const change = changeOf('d1', 'not-compliant', 'e1')
    await double.emit(streamId, change)
    expect(await first.example.lineWith('event')).toMatchObject({ jti: 'e1' })
    expect(await (await fetch(`${first.url}/devices/d1`)).json()).toEqual({
      status: 'not-compliant',
    })
    expect((await fetch(`${first.url}/devices/d2`)).status).toBe(404)
    expect(await first.example.stop()).toBe(0)

    const second = await start()
    const endpoint = double.streams.get(streamId)?.configuration['delivery'] as Record<
      string,
      string
    >
    endpoint['endpoint_url'] = `${second.url}/events`
    await double.emit(streamId, change)
    await double.emit(streamId, changeOf('d2', 'compliant', 'e2'))
    expect(await second.example.lineWith('event')).toMatchObject({ jti: 'e2' })
    expect(await (await fetch(`${second.url}/devices/d1`)).json()).toEqual({
      status: 'not-compliant',
    })
    expect(double.pushed).toEqual([202, 202, 202])
    expect(await second.example.stop()).toBe(0)
  })

  test('refuses what nobody signed', async () => {
    const { url } = await start()
    const response = await fetch(`${url}/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/secevent+jwt', authorization: AUTHORIZATION },
      body: 'a.b.c',
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ err: 'invalid_request' })
  })
})

test('the fetch-style example verifies events and keeps what they say in its bindings', async () => {
  const events = new Map<string, string>()
  const bindings = {
    ISSUER: double.issuer,
    JWKS_URI: `${double.issuer}/jwks.json`,
    AUDIENCE,
    PUSH_AUTHORIZATION: AUTHORIZATION,
    EVENTS: {
      get: async (key: string) => events.get(key) ?? null,
      put: async (key: string, value: string) => void events.set(key, value),
    },
  }
  const server = await serveOnLoopback(
    toNodeHandler((request) => fetchHandler.fetch(request, bindings)),
  )
  const streamId = await createPushStream(`${server.url}/events`)
  await double.emit(streamId, changeOf('d1', 'compliant', 'e1'))
  expect(double.pushed).toEqual([202])
  expect([...events.values()]).toEqual(['compliant', '1'])
  expect((await fetch(`${server.url}/other`)).status).toBe(404)
  await server.close()
})

test('the worker example makes its stream, verifies it, and goes on where it was stopped', async () => {
  const environment = {
    CLIENT_ID,
    CLIENT_SECRET,
    TOKEN_ENDPOINT: `${double.issuer}/token`,
  }
  double.state.set('d0', {
    sub_id: { format: 'iss_sub', iss: double.issuer, sub: 'd0' },
    status: 'not-compliant',
    event_timestamp: 1,
    jti: null,
    sequence: null,
  })
  const first = startExample('poll-worker.ts', environment)
  expect(await first.lineWith('verified')).toEqual({ verified: [...double.streams.keys()][0] })
  expect(await first.lineWith('reconciled')).toMatchObject({ reconciled: { added: 1 } })
  const [streamId = ''] = double.streams.keys()
  await double.emit(streamId, changeOf('d1', 'compliant', 'e1'))
  expect(await first.lineWith('current')).toMatchObject({ current: 'not-compliant' })
  expect(await first.lineWith('current')).toMatchObject({
    subject: { sub: 'd1' },
    previous: 'unknown',
    current: 'compliant',
  })
  expect(await first.stop()).toBe(0)
  expect(double.streams.get(streamId)?.queue.size).toBe(0)

  double.state.set('d1', {
    sub_id: { format: 'iss_sub', iss: double.issuer, sub: 'd1' },
    status: 'compliant',
    event_timestamp: Math.floor(Date.now() / 1000),
    jti: 'e1',
    sequence: null,
  })
  const second = startExample('poll-worker.ts', environment)
  expect(await second.lineWith('reconciled')).toMatchObject({
    reconciled: { added: 0, changed: 0, removed: 0, unchanged: 2 },
  })
  expect(double.streams.size).toBe(1)
  expect(await second.stop()).toBe(0)
})
