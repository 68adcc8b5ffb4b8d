import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VERIFICATION } from '@heliograph/ssf'
import { listen, verifyToken, type ListenOptions, type ListenSummary } from '../src/cli/index.ts'
import { serveOnLoopback, type LoopbackServer } from './support/loopback-server.ts'
import { startPollTransmitter } from './support/poll-transmitter.ts'
import {
  AUDIENCE,
  createTestKey,
  goodClaims,
  jwksOf,
  signSet,
  type TestKey,
} from './support/signing.ts'

let key: TestKey
let folder: string
let jwksFile: string
let transmitter: LoopbackServer

beforeAll(async () => {
  key = await createTestKey('k1', 'ES256')
  folder = await mkdtemp(join(tmpdir(), 'receiver-cli-'))
  jwksFile = join(folder, 'jwks.json')
  await writeFile(jwksFile, JSON.stringify(jwksOf(key)))
  transmitter = await serveOnLoopback((request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url === '/.well-known/ssf-configuration') {
      response.end(
        JSON.stringify({ issuer: transmitter.url, jwks_uri: `${transmitter.url}/jwks.json` }),
      )
    } else response.end(JSON.stringify(jwksOf(key)))
  })
})

afterAll(async () => {
  await transmitter.close()
  await rm(folder, { recursive: true })
})

function createOutput() {
  const chunks: string[] = []
  return {
    write: (text: string) => chunks.push(text),
    text: () => chunks.join(''),
    lines: () =>
      chunks
        .join('')
        .split('\n')
        .filter((line) => line !== ''),
  }
}

function currentClaims(jti: string, change: object = {}): Record<string, unknown> {
  const iat = Math.floor(Date.now() / 1000)
  return { ...goodClaims({ jti }), iss: transmitter.url, iat, ...change }
}

async function runListen(options: Partial<ListenOptions>, onReady: (url: string) => Promise<void>) {
  const output = createOutput()
  const diagnostics = createOutput()
  let whenReady = Promise.resolve()
  const summary: ListenSummary = await listen({
    source: { method: 'push', port: 0 },
    issuer: transmitter.url,
    audience: AUDIENCE,
    output,
    diagnostics,
    // For a test that would hang.
    signal: AbortSignal.timeout(60_000),
    onReady: (url) => {
      whenReady = onReady(url)
      // Awaited below: listening may end before who sends has read the last answer.
      whenReady.catch(() => undefined)
    },
    ...options,
  })
  await whenReady
  return { output, diagnostics, summary }
}

async function pushTo(url: string, token: string): Promise<number> {
  const headers = { 'content-type': 'application/secevent+jwt', authorization: 'Bearer a' }
  return (await fetch(url, { method: 'POST', headers, body: token })).status
}

describe('listen', () => {
  test('receives pushes, finds the keys by discovery, and prints one line per event', async () => {
    const statuses: number[] = []
    const source = { method: 'push', port: 0, authorization: 'Bearer a' } as const
    const { output, diagnostics, summary } = await runListen(
      { source, eventsMax: 2 },
      async (url) => {
        const first = await signSet(key, currentClaims('a'))
        const state = { events: { [VERIFICATION]: { state: 'x\u001b[2J' } } }
        for (const token of [
          first,
          first,
          await signSet(key, currentClaims('b', { exp: 1 })),
          await signSet(key, currentClaims('c', state)),
        ]) {
          statuses.push(await pushTo(url, token))
        }
      },
    )
    expect(statuses).toEqual([202, 202, 400, 202])
    expect(summary).toEqual({ received: 2, problems: 1 })
    const [change, verification] = output.lines()
    expect(change).toMatch(
      /device-compliance-change {2}compliant -> not-compliant {2}device=d1 user=user@example\.com {2}jti=a {2}age=/,
    )
    expect(verification).toContain('state=x\\u001b[2J')
    expect(diagnostics.text()).toContain(
      'refused: invalid_request: a SET must not have an exp claim',
    )
  })

  test('polls and prints JSON lines with ages', async () => {
    const poll = await startPollTransmitter()
    const event_timestamp = Math.floor(Date.now() / 1000) - 10
    poll.queue.set('a', await signSet(key, currentClaims('a')))
    const claims = currentClaims('b')
    const [[type, payload] = ['', {}]] = Object.entries(claims['events'] as Record<string, object>)
    const events = { [type]: { ...payload, event_timestamp } }
    poll.queue.set('b', await signSet(key, { ...claims, events }))
    const { output, summary } = await runListen(
      {
        source: { method: 'poll', url: `${poll.url}/events`, authorization: 'Bearer p' },
        jwks: jwksFile,
        isJson: true,
        eventsMax: 2,
      },
      () => Promise.resolve(),
    )
    expect(summary.received).toBe(2)
    expect(poll.queue.size).toBe(0)
    const record = JSON.parse(output.lines()[1] ?? '') as Record<string, unknown>
    expect(record).toMatchObject({ jti: 'b', txn: 'txn-1', event_type: type })
    expect(record['age_since_event_seconds']).toBeGreaterThanOrEqual(10)
    await poll.close()
  })

  test('cannot begin without an issuer that can be discovered', async () => {
    await expect(
      runListen({ issuer: `${transmitter.url}/other` }, () => Promise.resolve()),
    ).rejects.toMatchObject({ name: 'TransmitterError', code: 'bad_response' })
  })
})

describe('verifyToken', () => {
  test('prints claims and every check of a good token, from standard input', async () => {
    const output = createOutput()
    const token = await signSet(key, currentClaims('a'))
    const { isValid } = await verifyToken({
      input: (async function* () {
        yield Buffer.from(token.slice(0, 20))
        yield `${token.slice(20)}\n`
      })(),
      jwks: jwksFile,
      issuer: transmitter.url,
      output,
    })
    expect(isValid).toBe(true)
    expect(output.text()).toContain('"jti": "a"')
    expect(output.text()).toMatch(/passed {2}signature/)
    expect(output.text()).toMatch(/skipped aud/)
    expect(output.lines().at(-1)).toBe('valid')
  })

  test('names each check that a bad token fails', async () => {
    const output = createOutput()
    const other = await createTestKey('k1', 'ES256')
    const token = await signSet(other, currentClaims('a', { sub: 'x', aud: 'y' }), { typ: 'JWT' })
    const { isValid } = await verifyToken({
      token,
      jwks: `${transmitter.url}/jwks.json`,
      audience: AUDIENCE,
      isJson: true,
      output,
    })
    expect(isValid).toBe(false)
    const report = JSON.parse(output.text()) as { checks: { check: string; outcome: string }[] }
    const failed = report.checks.filter(({ outcome }) => outcome === 'failed')
    expect(failed.map(({ check }) => check)).toEqual(['signature', 'typ', 'aud', 'sub'])
  })

  test('does not call a token bad because its keys cannot be had', async () => {
    const down = await serveOnLoopback((_request, response) => response.writeHead(404).end())
    const options = { jwks: `${down.url}/jwks.json`, issuer: transmitter.url }
    const output = createOutput()
    const good = { ...options, token: await signSet(key, currentClaims('a')), output }
    await expect(verifyToken(good)).rejects.toMatchObject({ code: 'unavailable' })
    expect(output.text()).toContain('"jti": "a"')
    expect(output.text()).toMatch(/skipped signature/)
    expect(output.lines().at(-1)).toBe('not known: the keys cannot be had')
    const bad = { ...options, token: await signSet(key, currentClaims('a', { exp: 1 })), output }
    expect((await verifyToken(bad)).isValid).toBe(false)
    await down.close()
  })

  test('reports text that is no token, and an empty input', async () => {
    const output = createOutput()
    const options = { jwks: jwksFile, output }
    expect((await verifyToken({ ...options, token: 'hello' })).isValid).toBe(false)
    expect(output.text()).toContain('NOT VALID')
    await expect(verifyToken({ ...options, token: ' ' })).rejects.toBeInstanceOf(TypeError)
  })
})
