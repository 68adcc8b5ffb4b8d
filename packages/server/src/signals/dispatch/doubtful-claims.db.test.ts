import type { KyselyPlugin } from 'kysely'
import { afterAll, afterEach, expect, test } from 'vitest'
import { createDeliveryBench, numberedEvents } from '../../../test/support/delivery-bench.ts'

const bench = await createDeliveryBench()
afterEach(() => bench.clear())
afterAll(() => bench.close())

/** The connection is lost after the server has done a statement that is raw SQL with this text, so many times. */
function cutAnswers(text: string, times: number): KyselyPlugin & { readonly cut: () => number } {
  const met = new WeakSet<object>()
  let cut = 0
  return {
    cut: () => cut,
    transformQuery({ node, queryId }) {
      const isMet = node.kind === 'RawNode' && node.sqlFragments.join('').includes(text)
      if (isMet) met.add(queryId)
      return node
    },
    transformResult({ result, queryId }) {
      if (!met.has(queryId) || cut >= times) return Promise.resolve(result)
      cut += 1
      return Promise.reject(new Error('Connection terminated unexpectedly'))
    },
  }
}

/** Loses the connection before the server hears of such a statement, so many times. */
function cutStatements(text: string, times: number): KyselyPlugin & { readonly cut: () => number } {
  let cut = 0
  return {
    cut: () => cut,
    transformQuery({ node }) {
      const isMet = node.kind === 'RawNode' && node.sqlFragments.join('').includes(text)
      if (!isMet || cut >= times) return node
      cut += 1
      throw new Error('Connection terminated unexpectedly')
    },
    transformResult: ({ result }) => Promise.resolve(result),
  }
}

test('what a statement claimed whose answer was cut off is sent within seconds, long before its lease ends', async () => {
  const plugin = cutAnswers('join claimed', 2)
  const receiver = await bench.startReceiver()
  await bench.queue(receiver.id, numberedEvents(20, 4))
  await bench.startEngine([50], { db: bench.database.db.withPlugin(plugin) })
  await bench.waitForStates(receiver.id, { delivered: 20 })
  expect(plugin.cut()).toBe(2)
  expect(receiver.requests).toHaveLength(20)
})

test('claims that could not be given back are given back when the database is there again', async () => {
  const plugin = cutStatements('as released', 3)
  let requests = 0
  const receiver = await bench.startReceiver((_request, response) => {
    requests += 1
    response.writeHead(requests === 1 ? 503 : 202).end()
  })
  await bench.queue(receiver.id, numberedEvents(12, 1))
  await bench.startEngine(
    Array.from({ length: 100 }, () => 50),
    {
      db: bench.database.db.withPlugin(plugin),
    },
  )
  await bench.waitForStates(receiver.id, { delivered: 12 })
  expect(plugin.cut()).toBe(3)
})
