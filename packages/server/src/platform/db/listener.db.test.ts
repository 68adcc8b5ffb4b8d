import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { createListener, notify } from './listener.ts'
import type { Listener } from './listener.ts'
import { DatabaseNetwork } from './database-network.ts'

/** Far longer than anything takes, on a busy machine too. */
const WAIT_MS = 15_000

const database = await createTestDatabase()
afterAll(() => database.close())

const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }
let listener: Listener | undefined

afterEach(async () => {
  await listener?.stop()
  vi.clearAllMocks()
})

function listen(network = new DatabaseNetwork()): Listener {
  listener = createListener(database.connection, { log, network })
  listener.start()
  return listener
}

test('delivers what a transaction told when it commits, and nothing of one that rolls back', async () => {
  const heard: string[] = []
  listen().subscribe('Mixed Case', (payload) => heard.push(payload))
  await listener?.whenListening()
  await expect(
    database.db.transaction().execute(async (tx) => {
      await notify(tx, 'Mixed Case', 'rolled back')
      throw new Error('no')
    }),
  ).rejects.toThrow('no')
  await database.db.transaction().execute((tx) => notify(tx, 'Mixed Case', 'committed'))
  await vi.waitFor(() => expect(heard).toEqual(['committed']), WAIT_MS)
})

test('serves every subscriber of a channel, and stops serving one that left', async () => {
  const first = vi.fn()
  const second = vi.fn()
  const leave = listen().subscribe('shared', first)
  listener?.subscribe('shared', second)
  await listener?.whenListening()
  await notify(database.db, 'shared', 'one')
  await vi.waitFor(() => expect(second).toHaveBeenCalledTimes(1), WAIT_MS)
  leave()
  await notify(database.db, 'shared', 'two')
  await vi.waitFor(() => expect(second).toHaveBeenCalledTimes(2), WAIT_MS)
  expect(first.mock.calls).toEqual([['one']])
})

test('subscribes while it is connected, and survives a handler that throws', async () => {
  const heard = vi.fn()
  listen()
  await listener?.whenListening()
  listener?.subscribe('late', () => {
    throw new Error('broken handler')
  })
  listener?.subscribe('late', heard)
  await listener?.whenListening()
  await notify(database.db, 'late')
  await vi.waitFor(() => expect(heard).toHaveBeenCalledWith(''), WAIT_MS)
  expect(log.error).toHaveBeenCalledTimes(1)
})

test('comes back after its connection was killed, tells so, and hears again', async () => {
  const heard = vi.fn()
  const reconnected = vi.fn()
  const network = new DatabaseNetwork()
  listen(network).subscribe('steady', heard)
  listener?.onReconnect(reconnected)
  expect(listener?.disconnectedForMs()).toBeGreaterThan(0)
  await listener?.whenListening()
  expect(listener?.disconnectedForMs()).toBe(0)
  expect(reconnected).toHaveBeenCalledTimes(1)
  const connecting = vi.spyOn(network, 'settings').mockImplementation(() => {
    throw new Error('not yet')
  })
  await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'heliograph listener'`,
  )
  await vi.waitFor(() => expect(listener?.disconnectedForMs()).toBeGreaterThan(0))
  connecting.mockRestore()
  await vi.waitFor(() => expect(reconnected).toHaveBeenCalledTimes(2), 5_000)
  expect(listener?.disconnectedForMs()).toBe(0)
  await listener?.whenListening()
  await notify(database.db, 'steady', 'again')
  await vi.waitFor(() => expect(heard).toHaveBeenCalledWith('again'), WAIT_MS)
})

test('refuses a payload that PostgreSQL would refuse', async () => {
  await expect(notify(database.db, 'any', 'é'.repeat(4_000))).rejects.toThrow(RangeError)
  await expect(notify(database.db, 'any', '1\0')).rejects.toThrow(RangeError)
})

test('stops while it connects, at whatever moment, and leaves no connection', async () => {
  for (const delayMs of [0, 1, 2, 4, 8, 16]) {
    const connecting = createListener(database.connection, { log, network: new DatabaseNetwork() })
    connecting.start()
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
    await connecting.stop()
  }
  await vi.waitFor(async () => {
    const { rows } = await database.pool.query(
      `select from pg_stat_activity
       where datname = current_database() and application_name = 'heliograph listener'`,
    )
    expect(rows).toHaveLength(0)
  }, WAIT_MS)
})

test('whoever waits until it listens goes on waiting through a connection that breaks before it does', async () => {
  const failing = createListener(database.connection, { log, network: new DatabaseNetwork() })
  listener = failing
  // A channel without a name is refused, as a server is that goes away just then.
  const leave = failing.subscribe('', () => undefined)
  const heard: string[] = []
  failing.subscribe('after all', (payload) => heard.push(payload))
  let isListening = false
  void failing.whenListening().then(() => (isListening = true))
  failing.start()
  await vi.waitFor(() => expect(log.warn).toHaveBeenCalled(), WAIT_MS)
  expect(isListening).toBe(false)
  leave()
  await vi.waitFor(() => expect(isListening).toBe(true), WAIT_MS)
  await notify(database.db, 'after all', 'told')
  await vi.waitFor(() => expect(heard).toEqual(['told']), WAIT_MS)
})
