import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { removeDataFolder, startEmbeddedPostgres } from '@heliograph/embedded-postgres'
import { sql } from 'kysely'
import { afterAll, expect, test, vi } from 'vitest'
import { cleanUpAfterEach } from '../../../test/support/clean-up-after-each.ts'
import { createTestDatabase } from '../../../test/support/database.ts'
import { startVanishingProxy } from '../../../test/support/vanishing-proxy.ts'
import { SILENT_LOGGER } from '../silent-logger.ts'
import { databaseOf, roleOf, type DatabaseConnection } from './connection.ts'
import { DatabaseClient } from './database-client.ts'
import { DatabaseNetwork } from './database-network.ts'
import { openDatabase, type Database } from './database.ts'
import { createListener, notify } from './listener.ts'
import { toUnavailable } from './unavailable.ts'

/** What an operator calls seconds, on a busy machine too. */
const SECONDS_MS = 15_000

const database = await createTestDatabase()
const second = await startSecondServer(database.connection)
const proxies = [
  await startVanishingProxy(database.connection),
  await startVanishingProxy(second.connection),
] as const
const connections = [database.connection, second.connection] as const
const cleanup = cleanUpAfterEach()

afterAll(async () => {
  for (const proxy of proxies) await proxy.close()
  await second.stop()
  await database.close()
})

/** Another server with a database and a role of the same names. */
async function startSecondServer(like: DatabaseConnection) {
  const dataDir = await mkdtemp(join(tmpdir(), 'heliograph-servers-'))
  await chmod(dataDir, 0o711)
  const server = await startEmbeddedPostgres({ dataDir, log: SILENT_LOGGER, isDurable: false })
  const [user, name] = [roleOf(like), databaseOf(like)]
  if (user !== server.connection.user) {
    await runOn(server.administration, [`create role "${user}" login`])
  }
  await runOn(server.administration, [`create database "${name}" owner "${user}"`])
  return {
    connection: { ...server.connection, user, database: name },
    stop: async () => {
      await server.stop()
      await removeDataFolder(dataDir, SILENT_LOGGER)
    },
  }
}

async function runOn(connection: DatabaseConnection, statements: readonly string[]): Promise<void> {
  const client = new DatabaseClient(new DatabaseNetwork().settings(connection, 0))
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.close()
}

/** Makes a server one that takes writes or one that only reads, as a failover does: with new connections. */
async function setWritable(index: 0 | 1, isWritable: boolean): Promise<void> {
  const connection = connections[index]
  const name = databaseOf(connection)
  await runOn(connection, [
    'set default_transaction_read_only = off',
    `alter database "${name}" set random_page_cost = ${index + 1}`,
    `alter database "${name}" set default_transaction_read_only = ${isWritable ? 'off' : 'on'}`,
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and usename = current_user and pid <> pg_backend_pid()`,
  ])
}

/** Both servers in one URL. */
function toUrl(): string {
  const [one, two] = [new URL(proxies[0].url), new URL(proxies[1].url)]
  return `postgresql://${one.username}@${one.host},${two.host}${one.pathname}`
}

function open(network: DatabaseNetwork, url = toUrl()): Database<object> {
  const database = openDatabase<object>({ url }, { network, poolMax: 3, logError: () => undefined })
  cleanup.add(() => database.close())
  return database
}

/** The server that a statement reaches: 0 or 1, as its settings tell. */
async function findServer({ db }: Database<object>): Promise<number> {
  const { rows } = await sql<{ server: string }>`
    select current_setting('random_page_cost') as server`.execute(db)
  return Number(rows[0]?.server) - 1
}

test('of two servers the one that takes writes is used, whichever is named first', async () => {
  for (const [writable, other] of [
    [0, 1],
    [1, 0],
  ] as const) {
    await setWritable(writable, true)
    await setWritable(other, false)
    expect(await findServer(open(new DatabaseNetwork()))).toBe(writable)
  }
})

test('a failover is followed by statements and by what listens, without a restart', async () => {
  await setWritable(0, true)
  await setWritable(1, false)
  const network = new DatabaseNetwork()
  const database = open(network)
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  const listener = createListener({ url: toUrl() }, { log, network })
  const heard = vi.fn()
  listener.subscribe('failover', heard)
  listener.start()
  cleanup.add(() => listener.stop())
  await listener.whenListening()
  expect(await findServer(database)).toBe(0)
  await setWritable(0, false)
  await setWritable(1, true)
  await vi.waitFor(async () => expect(await findServer(database)).toBe(1), SECONDS_MS)
  await vi.waitFor(async () => {
    await notify(database.db, 'failover', 'new')
    expect(heard).toHaveBeenCalledWith('new')
  }, SECONDS_MS)
})

test('a primary that vanishes without a word is left as soon as another one takes writes', async () => {
  await setWritable(0, true)
  await setWritable(1, false)
  const network = new DatabaseNetwork()
  const database = open(network)
  expect(await findServer(database)).toBe(0)
  proxies[0].vanish()
  cleanup.add(async () => proxies[0].comeBack())
  await setWritable(1, true)
  // What the listener of a process does when its own connection does not answer.
  network.breakSilent(network.received())
  await vi.waitFor(async () => expect(await findServer(database)).toBe(1), SECONDS_MS)
})

test('while no server takes writes it is unavailable, and the reason names each of them', async () => {
  await setWritable(0, false)
  await setWritable(1, false)
  const failure: unknown = await findServer(open(new DatabaseNetwork())).catch(
    (error: unknown) => error,
  )
  expect(toUnavailable(failure)?.message).toContain('only reads')
  expect(String(failure)).toMatch(/127\.0\.0\.1:\d+ only reads; 127\.0\.0\.1:\d+ only reads/)
})

test('while no server answers it cannot be reached, and the reason names each of them', async () => {
  const url = toUrl().replaceAll(/:\d+/g, ':1')
  const failure: unknown = await findServer(open(new DatabaseNetwork(), url)).catch(
    (error: unknown) => error,
  )
  expect(toUnavailable(failure)?.message).toContain('cannot be reached')
  expect(String(failure)).toMatch(/127\.0\.0\.1:1: .*; 127\.0\.0\.1:1: /)
})

test('a connection for which there is no server leaves no socket behind', async () => {
  await setWritable(0, false)
  await setWritable(1, false)
  const network = new DatabaseNetwork()
  const client = new DatabaseClient(network.settings({ url: toUrl() }, 50))
  await expect(client.connect()).rejects.toThrow('no server takes writes')
  // Longer than a socket may be silent: nobody listens to one that was never opened.
  await sleep(200)
  await vi.waitFor(() => expect(network.received().size).toBe(0), SECONDS_MS)
})

test('a server that refuses access says so, and is no server that is away', async () => {
  await setWritable(0, true)
  const url = toUrl().replace(/\/[^/]*$/, '/missing_database')
  const failure: unknown = await findServer(open(new DatabaseNetwork(), url)).catch(
    (error: unknown) => error,
  )
  expect(String(failure)).toContain('missing_database')
  expect(toUnavailable(failure)?.message).toContain('does not let the service in')
})
