import { afterEach, describe, expect, test } from 'vitest'
import type { AgentFlags } from './node-options.ts'
import { createHarness } from '../test/node-harness.ts'
import type { Harness } from '../test/node-harness.ts'

let harness: Harness | undefined
afterEach(async () => {
  await harness?.close()
  harness = undefined
})

async function startAgent(flags: Partial<AgentFlags> = {}): Promise<Harness> {
  const made = await createHarness({ flags: { isDistributedDisabled: true, ...flags } })
  harness = made
  made.node.start()
  await made.seconds(0)
  return made
}

function batchSizes(made: Harness): number[] {
  return made.server.to('log').map(({ body }) => (body['data'] as unknown[]).length)
}

describe('the buffered logger', () => {
  test('sends buffered lines after logger_tls_period with node key, log type and objects', async () => {
    const made = await startAgent()
    made.node.logStatus(1, 'careful')
    await made.seconds(3)
    expect(made.server.to('log')).toHaveLength(0)
    await made.seconds(1)
    expect(made.server.to('log')[0]?.body).toMatchObject({
      node_key: 'key-1',
      log_type: 'status',
      data: [{ hostIdentifier: 'HOST-1', severity: 1, message: 'careful', version: '5.23.1' }],
    })
  })

  test('sends nothing when there is nothing to send', async () => {
    const made = await startAgent()
    await made.seconds(3_600)
    expect(made.server.to('log')).toHaveLength(0)
  })

  test('sends at most 1,024 lines at once, one batch per period, in order', async () => {
    const made = await startAgent()
    for (let index = 0; index < 2_100; index += 1) made.node.logStatus(0, `line ${index}`)
    await made.seconds(12)
    expect(batchSizes(made)).toEqual([1_024, 1_024, 52])
    const lines = made.server.to('log').flatMap(({ body }) => body['data'] as { message: string }[])
    expect(lines.map(({ message }) => message)).toEqual(
      Array.from({ length: 2_100 }, (_, index) => `line ${index}`),
    )
  })

  test('deletes lines only after success, so a lost answer means a repeat', async () => {
    const made = await startAgent()
    made.server.respondOnce('log', { json: { error: 'stored, but the answer got lost' } })
    made.node.logStatus(0, 'once or twice')
    await made.seconds(8)
    expect(batchSizes(made)).toEqual([1, 1])
    expect(made.node.counters).toMatchObject({ linesLogged: 1, linesSent: 2, linesAcknowledged: 1 })
  })

  test('backs off by the period times n squared, up to the maximum', async () => {
    const made = await startAgent({ loggerBackoffMaxSeconds: 60 })
    made.server.respond('log', { json: { error: 'down' } })
    made.node.logStatus(0, 'patience')
    await made.seconds(4)
    const waits: number[] = []
    for (let round = 0; round < 5; round += 1) {
      const before = made.server.to('log').length
      let waited = 0
      while (made.server.to('log').length === before) {
        await made.seconds(1)
        waited += 1
      }
      waits.push(waited)
    }
    expect(waits).toEqual([4, 16, 36, 60, 60])
  })

  test.each([-3_600_000, 3_600_000])(
    'goes by no clock that may be set, as by %i ms while it backs off',
    async (byMs) => {
      const made = await startAgent()
      made.server.respondOnce('log', { json: { error: 'down' } })
      made.node.logStatus(0, 'patience')
      await made.seconds(4)
      made.scheduler.setClock(byMs)
      made.node.logStatus(0, 'more')
      await made.seconds(3)
      expect(batchSizes(made)).toEqual([1])
      await made.seconds(1)
      expect(batchSizes(made)).toEqual([1, 2])
    },
  )

  test('results and statuses back off apart', async () => {
    const made = await createHarness({
      flags: { isDistributedDisabled: true },
      answers: { 'SELECT a': [{ a: '1' }] },
    })
    harness = made
    made.server.respond('config', {
      json: { schedule: { q: { query: 'SELECT a', interval: 10, snapshot: true } } },
    })
    made.server.respond('log', ({ body }) =>
      body['log_type'] === 'status' ? { json: { error: 'no' } } : { json: {} },
    )
    made.node.start()
    await made.seconds(0)
    made.node.logStatus(0, 'stuck')
    await made.seconds(120)
    const types = made.server.to('log').map(({ body }) => body['log_type'])
    expect(types.filter((type) => type === 'result').length).toBeGreaterThanOrEqual(10)
    expect(types.filter((type) => type === 'status').length).toBeLessThanOrEqual(5)
    expect(made.node.state.logLines.result).toHaveLength(0)
  })

  test('drops lines over 1 MiB', async () => {
    const made = await startAgent()
    made.node.logStatus(0, 'x'.repeat(1024 * 1024))
    made.node.logStatus(0, 'short')
    await made.seconds(4)
    expect(batchSizes(made)).toEqual([1])
    expect(made.node.counters.linesOversized).toBe(1)
  })

  test('purges the oldest lines beyond the buffer', async () => {
    const made = await startAgent({ bufferedLinesMax: 3 })
    made.server.respond('log', { json: { error: 'down' } })
    for (let index = 0; index < 5; index += 1) made.node.logStatus(0, `line ${index}`)
    await made.seconds(4)
    const kept = made.node.state.logLines.status.map(
      (line) => (JSON.parse(line) as { message: string }).message,
    )
    expect(kept).toEqual(['line 2', 'line 3', 'line 4'])
    expect(made.node.counters.linesPurged).toBe(2)
  })

  test('compresses log requests, and only those, when logger_tls_compress is set', async () => {
    const made = await startAgent({ isLoggerCompressed: true })
    made.node.logStatus(0, 'packed')
    await made.seconds(4)
    expect(made.server.to('log')[0]?.headers['content-encoding']).toBe('gzip')
    expect(made.server.to('log')[0]?.body['data']).toHaveLength(1)
    expect(made.server.to('config')[0]?.headers['content-encoding']).toBeUndefined()
  })

  test('lines survive a restart of the agent', async () => {
    const made = await startAgent()
    made.node.logStatus(0, 'before')
    made.node.restart()
    await made.seconds(4)
    expect(batchSizes(made)).toEqual([1])
  })
})
