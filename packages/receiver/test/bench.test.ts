import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DEVICE_COMPLIANCE_CHANGE, DELIVERY_METHOD_PUSH } from '@heliograph/ssf'
import { createStreamClient } from '../src/index.ts'
import { bench, trigger, type BenchOptions, type BenchReport } from '../src/cli/index.ts'
import { toSpread } from '../src/cli/bench-report.ts'
import { AUDIENCE } from './support/signing.ts'
import {
  credentialsFor,
  startTransmitterDouble,
  type TransmitterDouble,
} from './support/transmitter-double.ts'

let double: TransmitterDouble

beforeEach(async () => {
  double = await startTransmitterDouble()
})

afterEach(() => double.close())

const credentials = () => credentialsFor(double)

function createOutput() {
  let written = ''
  return { write: (text: string) => (written += text), text: () => written }
}

async function createStream(pushUrl?: string): Promise<{ id: string; url: string }> {
  const client = createStreamClient({ issuer: double.issuer, authorization: credentials() })
  const delivery = { method: DELIVERY_METHOD_PUSH, endpoint_url: pushUrl ?? '' } as const
  const stream = await client.createStream({
    events_requested: [DEVICE_COMPLIANCE_CHANGE],
    ...(pushUrl === undefined ? {} : { delivery }),
  })
  return { id: stream.stream_id, url: stream.delivery.endpoint_url }
}

async function emit(streamId: string, jti: string, ageSeconds = 0): Promise<void> {
  const nowSeconds = Math.floor(Date.now() / 1000)
  await double.emit(streamId, {
    jti,
    subject: { format: 'opaque', id: 'd1' },
    payload: {
      previous_status: 'compliant',
      current_status: 'not-compliant',
      event_timestamp: nowSeconds - ageSeconds,
    },
    claims: { iat: nowSeconds },
  })
}

async function runBench(options: Partial<BenchOptions>) {
  const output = createOutput()
  const diagnostics = createOutput()
  const report = await bench({
    source: { method: 'push', port: 0 },
    issuer: double.issuer,
    audience: AUDIENCE,
    seconds: 5,
    output,
    diagnostics,
    signal: new AbortController().signal,
    ...options,
  })
  return { report, output: output.text(), diagnostics: diagnostics.text() }
}

describe('a measurement of a receiver', () => {
  test('counts what is pushed: events, repeats and refusals, with latency and cost', async () => {
    let pushing: Promise<void> | undefined
    const { report, output, diagnostics } = await runBench({
      eventsMax: 3,
      isJson: true,
      onReady: (url) => {
        pushing = (async () => {
          const { id } = await createStream(url)
          for (const jti of ['a', 'b', 'b']) await emit(id, jti, 60)
          await fetch(url, {
            method: 'POST',
            headers: { 'content-type': 'application/secevent+jwt' },
            body: 'a.b.c',
          })
          await emit(id, 'c', 60)
        })()
      },
    })
    await pushing
    expect(JSON.parse(output)).toEqual(report)
    expect(report).toMatchObject({ events: 3, repeats: 1, refused: 1, failures: 0 })
    expect(report.since_event_seconds?.p50).toBeGreaterThanOrEqual(60)
    expect(report.since_issue_seconds?.max).toBeLessThan(60)
    expect(report.verify_alone_ms).toBeGreaterThan(0)
    expect(diagnostics).toContain('refused: invalid_request')
  })

  test('counts what is polled, for people to read', async () => {
    const { id, url } = await createStream()
    for (const jti of ['a', 'b']) await emit(id, jti)
    const progress: number[] = []
    const { report, output } = await runBench({
      source: { method: 'poll', url, authorization: credentials() },
      seconds: 1,
      onProgress: (events) => void progress.push(events),
    })
    expect(report).toMatchObject({ events: 2, repeats: 0 })
    expect(output).toContain('events                 2, repeats 0, refused 0')
    expect(progress.at(-1)).toBe(2)
    expect(double.streams.get(id)?.queue.size).toBe(0)
  })

  test('says that nothing came', async () => {
    const nothing: Partial<BenchReport> = {
      events: 0,
      events_per_second: null,
      since_issue_seconds: null,
      verify_alone_ms: null,
    }
    const { report, output } = await runBench({ signal: AbortSignal.timeout(50) })
    expect(report).toMatchObject(nothing)
    expect(output).toContain('not seen')
  })

  test('spreads values by the nearest rank', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index)
    expect(toSpread(values, 1)).toEqual({ p50: 50, p90: 90, p99: 99, max: 100 })
    expect(toSpread([4000], 1000)).toEqual({ p50: 4, p90: 4, p99: 4, max: 4 })
    expect(toSpread([], 1)).toBeNull()
  })
})

describe('a trigger', () => {
  test('asks for a verification event and tells its state', async () => {
    const { id } = await createStream()
    const output = createOutput()
    const asked = await trigger({
      issuer: double.issuer,
      streamId: id,
      authorization: credentials(),
      members: { email: 'user@example.com' },
      isJson: true,
      output,
    })
    expect(JSON.parse(output.text())).toEqual(asked)
    const { body } = double.requests.find(({ path }) => path === '/ssf/verify') ?? { body: '{}' }
    expect(JSON.parse(body)).toEqual({ ...asked, email: 'user@example.com' })
  })

  test('that is refused says so', async () => {
    const asked = trigger({
      issuer: double.issuer,
      streamId: 'other',
      authorization: credentials(),
      output: createOutput(),
    })
    await expect(asked).rejects.toMatchObject({ code: 'not_found' })
  })
})
