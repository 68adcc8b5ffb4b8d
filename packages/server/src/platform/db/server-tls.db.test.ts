/* Servers that are reached by TLS: each is checked by its own name, and silence is told from it as without TLS. */
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { sql } from 'kysely'
import { afterAll, expect, test, vi } from 'vitest'
import { cleanUpAfterEach } from '../../../test/support/clean-up-after-each.ts'
import { createTestDatabase } from '../../../test/support/database.ts'
import { startVanishingProxy } from '../../../test/support/vanishing-proxy.ts'
import { HOUR_MS } from '../clock.ts'
import { issueAuthorityCertificate, issueServerCertificate } from '../tls/issue-certificate.ts'
import { databaseOf, roleOf } from './connection.ts'
import { DatabaseClient } from './database-client.ts'
import { findDatabaseFault } from './database-fault.ts'
import { DatabaseNetwork } from './database-network.ts'
import { openDatabase, type Database } from './database.ts'

/** What an operator calls seconds, on a busy machine too. */
const SECONDS_MS = 15_000
const VALIDITY = {
  notBefore: new Date(Date.now() - HOUR_MS),
  notAfter: new Date(Date.now() + HOUR_MS),
}

const database = await createTestDatabase()
const folder = await mkdtemp(join(tmpdir(), 'heliograph-tls-'))
const rootKey = newKey()
const root = {
  key: rootKey,
  certificate: await issueAuthorityCertificate('test root', rootKey, VALIDITY),
}
await writeFile(join(folder, 'root.pem'), root.certificate)
const cleanup = cleanUpAfterEach()

afterAll(async () => {
  await database.close()
  await rm(folder, { recursive: true, force: true })
})

function newKey() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
}

/** The test database, by TLS with a certificate of this name, on a host that can vanish. */
async function startServer(name: string) {
  const key = newKey()
  const cert = await issueServerCertificate(root, createPublicKey(key), [name], VALIDITY)
  const pem = key.export({ type: 'pkcs8', format: 'pem' })
  const { host, port } = new DatabaseClient(new DatabaseNetwork().settings(database.connection, 0))
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    // SSLRequest (PostgreSQL, "Message Formats").
    socket.once('data', () => {
      socket.write('S')
      const secure = new TLSSocket(socket, { isServer: true, key: pem, cert })
      const upstream = host.startsWith('/')
        ? connect(`${host}/.s.PGSQL.${port}`)
        : connect(port, host)
      secure.on('error', () => upstream.destroy())
      secure.on('close', () => upstream.destroy())
      upstream.on('error', () => secure.destroy())
      upstream.on('close', () => secure.destroy())
      secure.pipe(upstream).pipe(secure)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address() as AddressInfo
  const proxy = await startVanishingProxy({ url: `postgresql://127.0.0.1:${address.port}/` })
  cleanup.add(async () => {
    await proxy.close()
    server.close()
  })
  return { proxy, port: new URL(proxy.url).port }
}

type Server = Awaited<ReturnType<typeof startServer>>

function open(network: DatabaseNetwork, servers: readonly Server[]): Database<object> {
  const { connection } = database
  const hosts = servers.map(({ port }) => `localhost:${port}`).join(',')
  const url = `postgresql://${roleOf(connection)}@${hosts}/${databaseOf(connection)}?sslmode=verify-full&sslrootcert=${join(folder, 'root.pem')}`
  const opened = openDatabase<object>({ url }, { network, poolMax: 1, logError: () => undefined })
  cleanup.add(() => opened.close())
  return opened
}

async function findSession({ db }: Database<object>): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  return rows[0]?.pid ?? 0
}

test('of several servers one with a certificate of its name is used, and another one never', async () => {
  const [wrong, right] = [await startServer('other.example'), await startServer('localhost')]
  await expect(findSession(open(new DatabaseNetwork(), [wrong, right]))).resolves.toBeGreaterThan(0)
  const refused: unknown = await findSession(open(new DatabaseNetwork(), [wrong, wrong])).catch(
    (error: unknown) => error,
  )
  expect(String(refused)).toMatch(/does not match certificate/)
  expect(findDatabaseFault(refused)?.advice).toContain('sslrootcert')
})

test('a connection that answers stays, and one to a host that vanished ends', async () => {
  const servers = [await startServer('localhost'), await startServer('localhost')]
  const network = new DatabaseNetwork()
  const opened = open(network, servers)
  const session = await findSession(opened)
  const since = network.received()
  expect(await findSession(opened)).toBe(session)
  network.breakSilent(since)
  expect(await findSession(opened)).toBe(session)
  for (const { proxy } of servers) proxy.vanish()
  const waiting = findSession(opened).catch((error: unknown) => error)
  const sinceGone = network.received()
  network.breakSilent(sinceGone)
  expect(await waiting).toBeInstanceOf(Error)
  for (const { proxy } of servers) proxy.comeBack()
  await vi.waitFor(async () => expect(await findSession(opened)).not.toBe(session), SECONDS_MS)
})
