import { afterEach, describe, expect, test } from 'vitest'
import type { AgentTables, Row } from './agent-tables.ts'
import { createHarness } from '../test/node-harness.ts'
import type { Harness } from '../test/node-harness.ts'

let harness: Harness | undefined
afterEach(async () => {
  await harness?.close()
  harness = undefined
})

const SCHEDULE = { q: { query: 'SELECT a', interval: 60, snapshot: true } }

/**
 * An agent whose decorator `SELECT d` answers how often it ran. Its schedule runs 30 seconds after the start, which
 * is five seconds after a full minute, and then every minute.
 */
async function startWith(decorators: Record<string, unknown>): Promise<Harness> {
  let runs = 0
  const tables: AgentTables = {
    query: (sql) => ({ outcome: 'rows', rows: sql === 'SELECT d' ? [{ d: String(++runs) }] : [] }),
  }
  const flags = { isDistributedDisabled: true, configRefreshSeconds: 200 }
  const made = await createHarness({ tables, flags })
  harness = made
  made.server.respond('config', { json: { decorators, schedule: SCHEDULE } })
  made.node.start()
  await made.seconds(0)
  return made
}

/** What went with each line of the schedule. */
function decorations(made: Harness): (Row | undefined)[] {
  return made.server
    .to('log')
    .filter(({ body }) => body['log_type'] === 'result')
    .flatMap(({ body }) => body['data'] as { decorations?: Row }[])
    .map((line) => line.decorations)
}

describe('decorators', () => {
  test('load runs once for each new configuration', async () => {
    const made = await startWith({ load: ['SELECT d'] })
    await made.seconds(220)
    expect(decorations(made)).toEqual(Array.from({ length: 4 }, () => ({ d: '1' })))
    made.server.respond('config', {
      json: { decorators: { load: ['SELECT d'] }, schedule: SCHEDULE, options: {} },
    })
    await made.seconds(240)
    expect(decorations(made).at(-1)).toEqual({ d: '2' })
  })

  test('always runs before each scheduled query', async () => {
    const made = await startWith({ always: ['SELECT d'] })
    await made.seconds(160)
    expect(decorations(made)).toEqual([{ d: '1' }, { d: '2' }, { d: '3' }])
  })

  test('interval runs at multiples of its whole minutes, and other intervals are warned of', async () => {
    const made = await startWith({ interval: { 120: ['SELECT d'], 45: ['SELECT d'] } })
    await made.seconds(280)
    const [first, second] = [{ d: '1' }, { d: '2' }]
    expect(decorations(made)).toEqual([undefined, undefined, first, first, second])
    const statuses = made.server.to('log').filter(({ body }) => body['log_type'] === 'status')
    expect(JSON.stringify(statuses.map(({ body }) => body))).toContain(
      'Invalid decorator interval rate 45',
    )
  })

  test('of an earlier configuration leave nothing and run no more', async () => {
    const made = await startWith({ always: ['SELECT d'], interval: { 60: ['SELECT d'] } })
    await made.seconds(190)
    made.server.respond('config', { json: { schedule: SCHEDULE } })
    await made.seconds(150)
    expect(decorations(made).slice(0, 3)).not.toContain(undefined)
    expect(decorations(made).slice(3)).toEqual([undefined, undefined, undefined])
  })
})
