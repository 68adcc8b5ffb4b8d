import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { simulate } from './cli/simulate.ts'
import { createFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import { startFakeOsqueryServer } from './test/fake-osquery-server.ts'
import type { FakeOsqueryServer } from './test/fake-osquery-server.ts'

let server: FakeOsqueryServer
let fleet: Fleet | undefined
beforeEach(async () => {
  server = await startFakeOsqueryServer()
})
afterEach(async () => {
  vi.useRealTimers()
  await fleet?.stop()
  fleet = undefined
  await server.close()
})

/** Waits until a condition holds; the test's own timeout bounds it. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10))
}

describe('a fleet', () => {
  test('enrolls every device once, in the asked mix, with rows of its own', async () => {
    fleet = createFleet({
      baseUrl: server.baseUrl,
      enrollSecret: 'secret',
      count: 100,
      mix: { darwin: 2, windows: 1, linux: 1 },
      startSpreadMs: 50,
    })
    fleet.start()
    await until(() => fleet?.statistics().enrolled === 100)
    const bodies = server.to('enroll').map(({ body }) => body)
    expect(new Set(bodies.map((body) => body['host_identifier'])).size).toBe(100)
    const masks = bodies.map((body) => body['platform_type'])
    expect(masks.filter((mask) => mask === '21')).toHaveLength(50)
    expect(masks.filter((mask) => mask === '2')).toHaveLength(25)
    expect(bodies[0]?.['host_details']).toMatchObject({ os_version: {}, system_info: {} })
  })

  test('accounts for every log line', async () => {
    server.respond('config', {
      json: { schedule: { q: { query: 'SELECT * FROM users', interval: 1, snapshot: true } } },
    })
    let attempt = 0
    server.respond('log', () => ({ json: attempt++ % 3 === 0 ? { error: 'busy' } : {} }))
    fleet = createFleet({
      baseUrl: server.baseUrl,
      enrollSecret: 'secret',
      count: 10,
      startSpreadMs: 0,
      flags: { loggerPeriodSeconds: 0.05 },
    })
    fleet.start()
    await until(() => (fleet?.statistics().counters.linesAcknowledged ?? 0) >= 20)
    const { counters, linesUnaccounted } = fleet.statistics()
    expect(counters.linesSent).toBeGreaterThan(counters.linesAcknowledged)
    expect(linesUnaccounted).toBe(0)
  })

  test('answers checks with the posture of the device, as it is turned', async () => {
    const results: unknown[] = []
    server.respond('distributedRead', {
      json: { queries: { check: 'SELECT global_state FROM alf' }, accelerate: 60 },
    })
    server.respond('distributedWrite', ({ body }) => {
      results.push((body['queries'] as Record<string, unknown>)['check'])
      return {}
    })
    fleet = createFleet({
      baseUrl: server.baseUrl,
      enrollSecret: 'secret',
      count: 1,
      mix: { darwin: 1 },
      startSpreadMs: 0,
    })
    fleet.setPosture(0, 'firewall', 'bad')
    fleet.start()
    await until(() => results.length > 0)
    expect(results[0]).toEqual([{ global_state: '0' }])
    expect(() => fleet?.setPosture(5, 'firewall', 'bad')).toThrow('No device at index 5')
  })

  test('stops: no request comes after', async () => {
    fleet = createFleet({
      baseUrl: server.baseUrl,
      enrollSecret: 'secret',
      count: 20,
      startSpreadMs: 0,
      flags: { distributedIntervalSeconds: 0.02 },
    })
    fleet.start()
    await until(() => server.to('distributedRead').length > 40)
    await fleet.stop()
    fleet = undefined
    const count = server.requests.length
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(server.requests.length).toBe(count)
  })
})

describe('simulate', () => {
  test('runs for its duration and sums up, also when the clock is set meanwhile', async () => {
    // Its time goes on once all have enrolled, however long a busy machine takes for that.
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
    })
    const running = simulate(
      {
        url: server.baseUrl,
        secret: 'secret',
        count: 5,
        durationMs: 3_000,
        fleet: { startSpreadMs: 0 },
      },
      { progress: () => undefined, signal: new AbortController().signal },
    )
    await vi.advanceTimersByTimeAsync(100)
    await expect.poll(() => server.to('config')).toHaveLength(5)
    vi.setSystemTime(Date.now() - 3_600_000)
    await vi.advanceTimersByTimeAsync(2_900)
    const summary = await running
    expect(summary.statistics).toMatchObject({ nodes: 5, enrolled: 5, linesUnaccounted: 0 })
    expect(summary.durationMs).toBeGreaterThanOrEqual(2_990)
  })

  test('a node key of an earlier run is no enrollment where the service takes nothing', async () => {
    await server.close()
    const enough = new AbortController()
    const summary = await simulate(
      {
        url: server.baseUrl,
        secret: 'secret',
        count: 3,
        fleet: {
          startSpreadMs: 0,
          nodeKeys: { get: () => 'key-of-an-earlier-run', set: () => undefined },
        },
      },
      {
        progress: (line) => {
          if (Number(/(\d+) failed/.exec(line)?.[1]) >= 3) enough.abort()
        },
        signal: enough.signal,
      },
    )
    const { counters, enrolled } = summary.statistics
    expect(counters.unreachable).toBeGreaterThanOrEqual(3)
    expect({ enrolled, successes: counters.successes }).toEqual({ enrolled: 0, successes: 0 })
  })

  test('ends early when it is aborted', async () => {
    const abort = new AbortController()
    const running = simulate(
      { url: server.baseUrl, secret: 'secret', count: 1 },
      { progress: () => undefined, signal: abort.signal },
    )
    abort.abort()
    expect((await running).statistics.nodes).toBe(1)
  })

  test('refuses plain HTTP beyond loopback', async () => {
    const io = { progress: () => undefined, signal: new AbortController().signal }
    const options = { url: 'http://fleet.example.com', secret: 's', count: 1 }
    await expect(simulate(options, io)).rejects.toThrow('plain HTTP')
  })
})
