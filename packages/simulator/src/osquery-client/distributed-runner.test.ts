import { afterEach, describe, expect, test } from 'vitest'
import { OLD_AGENT } from './node-options.ts'
import { createHarness } from '../test/node-harness.ts'
import type { Answers, Harness } from '../test/node-harness.ts'
import type { CreateNodeOptions } from './create-node.ts'

let harness: Harness | undefined
afterEach(async () => {
  await harness?.close()
  harness = undefined
})

/** An agent whose first read gets this work. */
async function runBatch(
  work: Record<string, unknown>,
  options: Partial<CreateNodeOptions> & { answers?: Answers } = {},
): Promise<Harness> {
  const made = await createHarness(options)
  harness = made
  made.server.respondOnce('distributedRead', { json: work })
  made.node.start()
  await made.seconds(0)
  return made
}

const ONE = [{ one: '1' }]

describe('distributed queries', () => {
  test('reads every distributed_interval, 60 seconds by default, with the node key', async () => {
    const made = await runBatch({ queries: {} })
    expect(made.server.to('distributedRead')[0]?.body).toEqual({ node_key: 'key-1' })
    await made.seconds(59)
    expect(made.server.to('distributedRead')).toHaveLength(1)
    await made.seconds(1)
    expect(made.server.to('distributedRead')).toHaveLength(2)
  })

  test('a read is acknowledged once the service took it, not when it is sent', async () => {
    const made = await createHarness()
    harness = made
    made.server.respond('distributedRead', { json: { error: 'down' } })
    made.node.start()
    await made.seconds(59)
    const { counters } = made.node
    expect(counters).toMatchObject({ distributedReads: 1, distributedReadsAcknowledged: 0 })
    made.server.respond('distributedRead', { json: {} })
    await made.seconds(60)
    expect(counters).toMatchObject({ distributedReads: 2, distributedReadsAcknowledged: 1 })
  })

  test('is off when the agent says so', async () => {
    const made = await runBatch({ queries: {} }, { flags: { isDistributedDisabled: true } })
    await made.seconds(600)
    expect(made.server.to('distributedRead')).toHaveLength(0)
  })

  test('an integer accelerate makes it read every five seconds for so long', async () => {
    const made = await runBatch({ queries: {}, accelerate: 20 })
    await made.seconds(20)
    expect(made.server.to('distributedRead')).toHaveLength(5)
    await made.seconds(64)
    expect(made.server.to('distributedRead').length).toBeLessThanOrEqual(7)
  })

  test.each([['"300"'], ['2.5'], ['true']])('accelerate %s is ignored', async (accelerate) => {
    const made = await runBatch({ queries: {}, accelerate: JSON.parse(accelerate) as unknown })
    await made.seconds(55)
    expect(made.server.to('distributedRead')).toHaveLength(1)
  })

  test('runs one query after another and writes all results of a batch at once', async () => {
    const made = await runBatch(
      { queries: { a: 'SELECT a', b: 'SELECT b', c: 'SELECT c' } },
      { answers: { 'SELECT a': ONE, 'SELECT b': 'no such column: b' } },
    )
    expect(made.statements.slice(-3)).toEqual(['SELECT a', 'SELECT b', 'SELECT c'])
    expect(made.server.to('distributedWrite')).toHaveLength(1)
    expect(made.server.to('distributedWrite')[0]?.body).toEqual({
      node_key: 'key-1',
      queries: { a: ONE, b: [], c: [] },
      statuses: { a: 0, b: 1, c: 0 },
      messages: { a: '', b: 'no such column: b', c: '' },
      stats: {
        a: expect.objectContaining({ wall_time_ms: expect.any(Number) as number }) as object,
        b: expect.objectContaining({ memory: 0 }) as object,
        c: expect.objectContaining({ system_time: 0 }) as object,
      },
    })
  })

  test('writes nothing when there was nothing to do', async () => {
    const made = await runBatch({ queries: {} })
    await made.seconds(300)
    expect(made.server.to('distributedWrite')).toHaveLength(0)
  })

  test('runs a query only when its discovery query found a row', async () => {
    const made = await runBatch(
      {
        queries: { yes: 'SELECT y', no: 'SELECT n', always: 'SELECT a' },
        discovery: { yes: 'SELECT found', no: 'SELECT nothing' },
      },
      { answers: { 'SELECT found': ONE } },
    )
    expect(Object.keys(made.server.to('distributedWrite')[0]?.body['queries'] ?? {})).toEqual([
      'yes',
      'always',
    ])
  })

  test('an agent before 5.8.1 runs nothing without a discovery query once any was sent', async () => {
    const made = await runBatch(
      { queries: { yes: 'SELECT y', bare: 'SELECT b' }, discovery: { yes: 'SELECT found' } },
      { answers: { 'SELECT found': ONE }, flags: { quirks: OLD_AGENT } },
    )
    expect(Object.keys(made.server.to('distributedWrite')[0]?.body['queries'] ?? {})).toEqual([
      'yes',
    ])
  })

  test('one discovery query with an SQL error discards the whole batch', async () => {
    const made = await runBatch(
      { queries: { a: 'SELECT a', b: 'SELECT b' }, discovery: { a: 'SELEC' } },
      { answers: { SELEC: 'syntax error' } },
    )
    expect(made.server.to('distributedWrite')).toHaveLength(0)
    expect(made.node.counters.batchesDiscarded).toBe(1)
  })

  test.each([
    ['an empty id', { queries: { '': 'SELECT 1', b: 'SELECT b' } }],
    ['an empty statement', { queries: { a: '', b: 'SELECT b' } }],
    ['a statement that is no string', { queries: { a: 7, b: 'SELECT b' } }],
    ['queries that are no object', { queries: ['SELECT b'] }],
    ['an empty discovery statement', { queries: { b: 'SELECT b' }, discovery: { b: '' } }],
  ])('%s rejects what follows', async (_name, work) => {
    const made = await runBatch(work)
    expect(made.statements).not.toContain('SELECT b')
    expect(made.server.to('distributedWrite')).toHaveLength(0)
  })

  test('what stands before an entry at fault is run, and nothing after it', async () => {
    const made = await runBatch({ queries: { a: 'SELECT a', b: '', c: 'SELECT c' }, accelerate: 5 })
    const [written] = made.server.to('distributedWrite')
    expect(Object.keys(written?.body['queries'] ?? {})).toEqual(['a'])
    expect(made.node.counters.batchesDiscarded).toBe(1)
    await made.seconds(55)
    expect(made.server.to('distributedRead')).toHaveLength(1)
  })

  test('tries a write three times, after one and four seconds', async () => {
    const made = await createHarness()
    harness = made
    made.server.respondOnce('distributedRead', { json: { queries: { a: 'SELECT a' } } })
    made.server.respond('distributedWrite', { json: { error: 'down' } })
    made.node.start()
    await made.seconds(0)
    expect(made.server.to('distributedWrite')).toHaveLength(1)
    await made.seconds(1)
    expect(made.server.to('distributedWrite')).toHaveLength(2)
    await made.seconds(4)
    expect(made.server.to('distributedWrite')).toHaveLength(3)
    await made.seconds(50)
    expect(made.server.to('distributedWrite')).toHaveLength(3)
  })

  test('keeps results it could not write and sends them with the next ones', async () => {
    const made = await createHarness()
    harness = made
    made.server.respondOnce('distributedRead', { json: { queries: { a: 'SELECT a' } } })
    made.server.respond('distributedWrite', { json: { error: 'down' } })
    made.node.start()
    await made.seconds(10)
    made.server.respond('distributedWrite', { json: {} })
    made.server.respondOnce('distributedRead', { json: { queries: { b: 'SELECT b' } } })
    await made.seconds(60)
    expect(Object.keys(made.server.to('distributedWrite').at(-1)?.body['queries'] ?? {})).toEqual([
      'a',
      'b',
    ])
    expect(made.node.counters.resultsAcknowledged).toBe(2)
  })

  test('an id that waits is replaced, not run twice', async () => {
    const made = await createHarness()
    harness = made
    made.node.state.pendingQueries.set('a', 'SELECT old')
    made.server.respondOnce('distributedRead', { json: { queries: { a: 'SELECT new' } } })
    made.node.start()
    await made.seconds(0)
    expect(made.statements.filter((sql) => sql.startsWith('SELECT old'))).toEqual([])
    expect(made.node.counters.queriesRun).toBe(1)
  })

  test('queries that wait survive a restart of the agent', async () => {
    const made = await createHarness({ answers: { 'SELECT a': ONE } })
    harness = made
    made.node.state.pendingQueries.set('a', 'SELECT a')
    made.node.start()
    await made.seconds(0)
    expect(made.server.to('distributedWrite')[0]?.body['queries']).toEqual({ a: ONE })
  })

  test('SQL that the agent died of is denylisted for a day, with status 1 and its message', async () => {
    const made = await createHarness({ crashesOn: (sql) => sql === 'SELECT crash' })
    harness = made
    made.server.respondOnce('distributedRead', { json: { queries: { a: 'SELECT crash' } } })
    made.node.start()
    await made.seconds(1)
    expect(made.node.isRunning).toBe(false)
    expect(made.server.to('distributedWrite')).toHaveLength(0)
    made.server.respondOnce('distributedRead', { json: { queries: { b: 'SELECT crash' } } })
    await made.seconds(10)
    expect(made.server.to('distributedWrite')[0]?.body).toMatchObject({
      statuses: { b: 1 },
      messages: { b: 'distributed query is denylisted' },
    })
    expect(made.node.counters.crashes).toBe(1)
    await made.seconds(86_400)
    made.server.respondOnce('distributedRead', { json: { queries: { c: 'SELECT crash' } } })
    await made.seconds(61)
    expect(made.node.counters.crashes).toBe(2)
  })

  test('an old agent sends an empty string for no rows, string statuses and nothing newer', async () => {
    const made = await runBatch(
      { queries: { a: 'SELECT a', b: 'SELECT b' } },
      { answers: { 'SELECT a': ONE }, flags: { quirks: OLD_AGENT } },
    )
    expect(made.server.to('distributedWrite')[0]?.body).toEqual({
      node_key: 'key-1',
      queries: { a: ONE, b: '' },
      statuses: { a: '0', b: '0' },
    })
  })
})
