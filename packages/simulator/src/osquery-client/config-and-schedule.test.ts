import { afterEach, describe, expect, test } from 'vitest'
import type { AgentTables, Row } from './agent-tables.ts'
import type { CreateNodeOptions } from './create-node.ts'
import { createHarness, scriptedTables } from '../test/node-harness.ts'
import type { Answers, Harness } from '../test/node-harness.ts'

let harness: Harness | undefined
afterEach(async () => {
  await harness?.close()
  harness = undefined
})

interface ResultLine {
  name: string
  action?: string
  counter: number
  epoch: number
  columns?: Row
  snapshot?: Row[]
  diffResults?: { added: Row[]; removed: Row[] }
  decorations?: Row
  unixTime: number
  calendarTime: string
  numerics: boolean
}

async function startWith(
  config: Record<string, unknown>,
  options: Partial<CreateNodeOptions> & { answers?: Answers } = {},
): Promise<Harness> {
  const flags = { isDistributedDisabled: true, ...options.flags }
  const made = await createHarness({ ...options, flags })
  harness = made
  made.server.respond('config', { json: config })
  made.node.start()
  await made.seconds(0)
  return made
}

function resultLines(made: Harness): ResultLine[] {
  return made.server
    .to('log')
    .filter(({ body }) => body['log_type'] === 'result')
    .flatMap(({ body }) => body['data'] as ResultLine[])
}

function statusMessages(made: Harness): string[] {
  return made.node.state.logLines.status.map(
    (line) => (JSON.parse(line) as { message: string }).message,
  )
}

/** Tables whose answer to `SELECT a` a test changes. */
function changingTables(rows: { current: Row[] }): AgentTables {
  return { query: () => ({ outcome: 'rows', rows: rows.current }) }
}

const EVERY_MINUTE = { query: 'SELECT a', interval: 60 }

describe('configuration', () => {
  test('is fetched once when config_refresh is 0', async () => {
    const made = await startWith({})
    await made.seconds(86_400)
    expect(made.server.to('config')).toHaveLength(1)
    expect(made.server.to('config')[0]?.body).toEqual({ node_key: 'key-1' })
  })

  test('is fetched again every config_refresh seconds', async () => {
    const made = await startWith({}, { flags: { configRefreshSeconds: 60 } })
    await made.seconds(180)
    expect(made.server.to('config')).toHaveLength(4)
  })

  test('a fetch is tried three times, after one and four seconds', async () => {
    const made = await createHarness({ flags: { isDistributedDisabled: true } })
    harness = made
    made.server.respond('config', { json: { error: 'down' } })
    made.node.start()
    await made.seconds(1)
    expect(made.server.to('config')).toHaveLength(2)
    await made.seconds(4)
    expect(made.server.to('config')).toHaveLength(3)
    await made.seconds(600)
    expect(made.server.to('config')).toHaveLength(3)
  })

  test('a failed refresh switches to the accelerated interval until one succeeds', async () => {
    const made = await startWith({}, { flags: { configRefreshSeconds: 3_600 } })
    made.server.respond('config', { json: { error: 'down' } })
    await made.seconds(3_605)
    const failed = made.server.to('config').length
    expect(failed).toBe(4)
    made.server.respond('config', { json: {} })
    await made.seconds(300)
    expect(made.server.to('config')).toHaveLength(failed + 1)
    await made.seconds(3_599)
    expect(made.server.to('config')).toHaveLength(failed + 1)
    await made.seconds(1)
    expect(made.server.to('config')).toHaveLength(failed + 2)
  })

  test('over 1 MiB is refused and the earlier one stays', async () => {
    const made = await startWith({
      schedule: { big: { ...EVERY_MINUTE, x: 'y'.repeat(1_048_576) } },
    })
    expect(made.node.counters.configChanges).toBe(0)
    expect(statusMessages(made).join()).toContain('exceeds the maximum size')
  })

  test('that did not change is not applied again', async () => {
    const made = await startWith({ schedule: {} }, { flags: { configRefreshSeconds: 10 } })
    await made.seconds(100)
    expect(made.node.counters).toMatchObject({ configFetches: 11, configChanges: 1 })
  })

  test('changes flags through options, and warns of unknown and start-up ones', async () => {
    const options = { distributed_interval: 10, no_such_flag: 1, disable_distributed: false }
    const made = await startWith({ options }, { flags: { isDistributedDisabled: false } })
    await made.seconds(30)
    expect(made.server.to('distributedRead')).toHaveLength(4)
    const messages = made.server
      .to('log')
      .flatMap(({ body }) => body['data'] as { message: string }[])
      .map(({ message }) => message)
    expect(messages).toEqual([
      'Cannot set unknown or invalid flag: no_such_flag',
      'Cannot set startup flag: disable_distributed',
    ])
  })
})

describe('scheduled queries', () => {
  test('run every interval with a splay of ten percent', async () => {
    const made = await startWith({ schedule: { q: { query: 'SELECT a', interval: 1_000 } } })
    await made.seconds(10_000)
    const runs = made.statements.filter((sql) => sql === 'SELECT a').length
    expect(runs).toBeGreaterThanOrEqual(9)
    expect(runs).toBeLessThanOrEqual(12)
  })

  test.each([
    ['an interval over a week', { ...EVERY_MINUTE, interval: 604_801 }],
    ['another platform', { ...EVERY_MINUTE, platform: 'windows' }],
    ['a newer agent', { ...EVERY_MINUTE, version: '6.0.0' }],
    ['no statement', { interval: 60 }],
  ])('an entry for %s does not run', async (_name, entry) => {
    const made = await startWith({ schedule: { q: entry } })
    await made.seconds(600)
    expect(made.statements).not.toContain('SELECT a')
  })

  test('an entry for posix and this version runs, in packs too', async () => {
    const entry = { ...EVERY_MINUTE, platform: 'posix', version: '5.1.0', snapshot: true }
    const made = await startWith({ packs: { base: { queries: { q: entry } } } })
    await made.seconds(120)
    expect(resultLines(made)[0]?.name).toBe('pack_base_q')
  })

  test('a shard runs on its share of hosts', async () => {
    const made = await startWith({})
    const config = { schedule: { q: { ...EVERY_MINUTE, shard: 30 } } }
    made.server.respond('config', { json: config })
    const ran = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const statements: string[] = []
        const tables = scriptedTables({}, statements)
        made.createNode({ hostIdentifier: `HOST-${index}`, tables }).start()
        return statements
      }),
    )
    await made.seconds(120)
    const share = ran.filter((statements) => statements.includes('SELECT a')).length
    expect(share).toBeGreaterThan(5)
    expect(share).toBeLessThan(35)
  })

  test('log the first run as added rows with counter 0, then what changed', async () => {
    const rows = { current: [{ a: '1' }, { a: '2' }] }
    const made = await startWith(
      { schedule: { q: EVERY_MINUTE } },
      { tables: changingTables(rows) },
    )
    await made.seconds(59)
    rows.current = [{ a: '2' }, { a: '3' }]
    await made.seconds(65)
    const lines = resultLines(made).map(({ action, counter, columns }) => [
      action,
      counter,
      columns,
    ])
    expect(lines).toEqual([
      ['added', 0, { a: '1' }],
      ['added', 0, { a: '2' }],
      ['removed', 1, { a: '1' }],
      ['added', 1, { a: '3' }],
    ])
  })

  test('carry name, host, times, epoch, numerics and decorations', async () => {
    const made = await startWith(
      {
        options: { schedule_epoch: 7 },
        decorators: { load: ['SELECT d'] },
        schedule: { q: EVERY_MINUTE },
      },
      { answers: { 'SELECT a': [{ a: '1' }], 'SELECT d': [{ site: 'Berne' }] } },
    )
    await made.seconds(65)
    const [line] = resultLines(made)
    expect(line).toMatchObject({
      name: 'q',
      hostIdentifier: 'HOST-1',
      epoch: 7,
      counter: 0,
      numerics: false,
      decorations: { site: 'Berne' },
      columns: { a: '1' },
      action: 'added',
    })
    expect(line?.calendarTime).toMatch(/^Fri Jan {2}2 03:0\d:\d\d 2026 UTC$/)
    expect(line?.unixTime).toBeTypeOf('number')
  })

  test('a new epoch starts over with counter 0', async () => {
    const rows = { current: [{ a: '1' }] }
    const made = await startWith(
      { schedule: { q: EVERY_MINUTE } },
      { tables: changingTables(rows), flags: { configRefreshSeconds: 100 } },
    )
    await made.seconds(95)
    made.server.respond('config', {
      json: { options: { schedule_epoch: 2 }, schedule: { q: EVERY_MINUTE } },
    })
    await made.seconds(100)
    expect(resultLines(made).map(({ epoch, counter }) => [epoch, counter])).toEqual([
      [0, 0],
      [2, 0],
    ])
  })

  test('a snapshot logs all rows in one line, even none', async () => {
    const made = await startWith({ schedule: { q: { ...EVERY_MINUTE, snapshot: true } } })
    await made.seconds(65)
    expect(resultLines(made)[0]).toMatchObject({ action: 'snapshot', snapshot: [] })
  })

  test('removed: false leaves removed rows out', async () => {
    const rows = { current: [{ a: '1' }] }
    const made = await startWith(
      { schedule: { q: { ...EVERY_MINUTE, removed: false } } },
      { tables: changingTables(rows) },
    )
    await made.seconds(59)
    rows.current = []
    await made.seconds(65)
    expect(resultLines(made).map(({ action }) => action)).toEqual(['added'])
  })

  test.each([
    ['snapshot: true', { snapshot: true }, ['added', 'snapshot', 'snapshot']],
    ['removed: false', { removed: false }, ['added']],
    ['another statement', { query: 'SELECT b' }, ['added', 'removed']],
  ])('take %s from a new configuration, and keep their time', async (_name, change, actions) => {
    const rows = { current: [{ a: '1' }] }
    const ran: string[] = []
    const tables: AgentTables = {
      query(sql) {
        if (sql.length === EVERY_MINUTE.query.length) ran.push(sql)
        return { outcome: 'rows', rows: rows.current }
      },
    }
    const made = await startWith(
      { schedule: { q: EVERY_MINUTE } },
      { tables, flags: { configRefreshSeconds: 100 } },
    )
    const changed = { ...EVERY_MINUTE, ...change }
    made.server.respond('config', { json: { schedule: { q: changed } } })
    await made.seconds(100)
    rows.current = []
    await made.seconds(49)
    expect(ran).toEqual(['SELECT a', 'SELECT a'])
    await made.seconds(1)
    expect(ran).toEqual(['SELECT a', 'SELECT a', changed.query])
    await made.seconds(65)
    expect(resultLines(made).map(({ action }) => action)).toEqual(actions)
  })

  test('log_result_events false puts a run into one line of differences', async () => {
    const made = await startWith(
      { options: { log_result_events: false }, schedule: { q: EVERY_MINUTE } },
      { answers: { 'SELECT a': [{ a: '1' }] } },
    )
    await made.seconds(65)
    expect(resultLines(made)[0]?.diffResults).toEqual({ added: [{ a: '1' }], removed: [] })
  })

  test('column values are cut at value_max characters', async () => {
    const made = await startWith(
      { schedule: { q: EVERY_MINUTE } },
      { answers: { 'SELECT a': [{ a: 'x'.repeat(600) }] } },
    )
    await made.seconds(65)
    expect(resultLines(made)[0]?.columns?.['a']).toHaveLength(512)
  })

  test('a query that the agent died of does not run for a day', async () => {
    const made = await startWith(
      { schedule: { q: EVERY_MINUTE } },
      { crashesOn: (sql) => sql === 'SELECT a' },
    )
    await made.seconds(3_600)
    expect(made.node.counters.crashes).toBe(1)
    expect(made.node.isRunning).toBe(true)
  })

  test('a denylisted query runs again once a configuration says denylist: false', async () => {
    let crashesLeft = 1
    const made = await startWith(
      { schedule: { q: EVERY_MINUTE } },
      {
        crashesOn: (sql) => sql === 'SELECT a' && crashesLeft-- > 0,
        flags: { configRefreshSeconds: 600 },
      },
    )
    await made.seconds(500)
    expect(made.statements).not.toContain('SELECT a')
    made.server.respond('config', {
      json: { schedule: { q: { ...EVERY_MINUTE, denylist: false } } },
    })
    await made.seconds(300)
    expect(made.statements).toContain('SELECT a')
  })
})
