import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { chooseRuntime } from '../../src/choose-runtime.ts'
import { prepareClusterHome } from '../../src/cluster-home.ts'
import { startEmbeddedPostgres } from '../../src/embedded-postgres.ts'
import { SERVER_ENVIRONMENT } from '../../src/initialise-cluster.ts'
import { removeDataFolder } from '../../src/remove-data-folder.ts'
import { chooseServerAccount } from '../../src/server-account.ts'
import { reservePort } from '../../../server/test/support/reserve-ports.ts'

let dataDir: string
const messages: string[] = []
const note = (_fields: object, message: string) => void messages.push(message)
const log = { debug: () => undefined, info: note, warn: note, error: note }
/** What clusters were made with before. */
const OPEN_RULES = 'local all all trust\nhost all all all trust\n'

beforeEach(async () => {
  dataDir = join(await realpath(await mkdtemp(join(tmpdir(), 'access-rules-'))), 'data')
  await mkdir(dataDir)
  messages.length = 0
})
afterEach(() => removeDataFolder(dataDir, log))

const start = () => startEmbeddedPostgres({ dataDir, log, isDurable: false })

async function listRules(): Promise<{ type: string; auth_method: string }[]> {
  const server = await start()
  const client = new Client({ ...server.administration })
  try {
    await client.connect()
    const { rows } = await client.query<{ type: string; auth_method: string }>(
      'select distinct type, auth_method from pg_hba_file_rules order by 1, 2',
    )
    return rows
  } finally {
    await client.end()
    await server.stop()
  }
}

it('lets in through the socket and rejects the network, also in a cluster that was made open', async () => {
  const expected = [
    { type: 'host', auth_method: 'reject' },
    { type: 'local', auth_method: 'trust' },
  ]
  expect(await listRules()).toEqual(expected)
  const cluster = join(await prepareClusterHome(dataDir), 'cluster')
  await writeFile(join(cluster, 'pg_hba.conf'), OPEN_RULES)
  expect(await listRules()).toEqual(expected)
})

it('rejects the network when somebody starts its cluster by hand, listening', async () => {
  await listRules()
  const home = await prepareClusterHome(dataDir)
  const cluster = join(home, 'cluster')
  const { postgres } = await chooseRuntime({ home, programs: 'auto', isDurable: false })
  const port = await reservePort()
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=']
  const child = spawn(postgres, ['-D', cluster, ...settings.flatMap((one) => ['-c', one])], {
    ...(await chooseServerAccount(cluster)),
    cwd: '/',
    env: SERVER_ENVIRONMENT,
    stdio: 'ignore',
  })
  try {
    const connect = async (user: string) => {
      const client = new Client({ host: '127.0.0.1', port, user, database: 'heliograph' })
      client.on('error', () => undefined)
      await client.connect().finally(() => client.end().catch(() => undefined))
    }
    for (const user of ['postgres', 'heliograph']) {
      await vi.waitFor(() => expect(connect(user)).rejects.toThrow(/pg_hba.conf rejects/), {
        timeout: 20_000,
        interval: 50,
      })
    }
  } finally {
    child.kill('SIGINT')
    await once(child, 'exit')
  }
})

it('says which PostgreSQL it runs', async () => {
  await listRules()
  expect(messages).toContain('database.server_started')
})
