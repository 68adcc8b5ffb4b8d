import { setTimeout as sleep } from 'node:timers/promises'
import type { KyselyPlugin } from 'kysely'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { createDeliveryBench, numberedEvents } from '../../../test/support/delivery-bench.ts'
import { FAILURES_TO_OPEN } from './circuit-breaker.ts'

const bench = await createDeliveryBench()
afterEach(() => bench.clear())
afterAll(() => bench.close())

/** Holds the answers of statements that are raw SQL with this text back until `mayAnswer` resolves. */
function holdAnswers(text: string, mayAnswer: () => Promise<void>): KyselyPlugin {
  const met = new WeakSet<object>()
  return {
    transformQuery({ node, queryId }) {
      const isMet = node.kind === 'RawNode' && node.sqlFragments.join('').includes(text)
      if (isMet) met.add(queryId)
      return node
    },
    async transformResult({ result, queryId }) {
      if (met.has(queryId)) await mayAnswer()
      return result
    },
  }
}

async function expectOpenCircuit(): Promise<void> {
  const { rows } = await bench.database.pool.query<{ is_open: boolean }>(
    `select consecutive_failures >= ${FAILURES_TO_OPEN} and retry_not_before > now() as is_open
     from delivery_destination`,
  )
  expect(rows[0]?.is_open).toBe(true)
}

test('failures that are noticed while a statement claims leave room for no more than what is in flight', async () => {
  const concurrency = 4
  const receiver = await bench.startReceiver((_request, response) => response.writeHead(503).end())
  // What is recorded was noticed.
  const plugin = holdAnswers('row_to_json(looked)', () =>
    vi.waitFor(expectOpenCircuit, { timeout: 10_000 }),
  )
  await bench.queue(receiver.id, numberedEvents(200, 200))
  await bench.startEngine([60_000], {
    db: bench.database.db.withPlugin(plugin),
    settings: { concurrency, claimSize: 16, claimedMax: 64 },
  })
  await vi.waitFor(expectOpenCircuit, { timeout: 15_000 })
  await sleep(300)
  const inFlightMax = concurrency - 1
  expect(receiver.requests.length).toBeLessThanOrEqual(FAILURES_TO_OPEN + inFlightMax + concurrency)
})
