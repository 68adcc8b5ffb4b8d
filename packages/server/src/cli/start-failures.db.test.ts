import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { runCommand } from '../../test/support/run-command.ts'
import { toUrl } from '../../test/support/to-url.ts'
import { withDatabase } from '../../test/support/with-database.ts'
// Loaded here, so that no test waits for it.
import '../app/service.ts'
import './commands/serve-command.ts'

const MASTER_KEY = randomBytes(32).toString('base64')
const OTHER_KEY = randomBytes(32).toString('base64')

let folder: string
let database: TestDatabase
let taken: Server
let takenPort: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'start-failures-'))
  await writeFile(join(folder, 'file'), '')
  database = await createTestDatabase()
  taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  takenPort = String((taken.address() as AddressInfo).port)
})
afterAll(async () => {
  taken.close()
  await database.close()
  await rm(folder, { recursive: true })
})

/** Runs a command on the database of this file to its end; `told` is the standard error. */
async function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const { exitCode, told } = await runCommand(args, {
    DATABASE_URL: toUrl(database.connection),
    HELIOGRAPH_MASTER_KEY: MASTER_KEY,
    HELIOGRAPH_DATA_DIR: join(folder, 'data'),
    HELIOGRAPH_LOG_LEVEL: 'silent',
    ...environment,
  })
  return { exitCode, told }
}

/** Runs a service in a data folder that is missing, and looks whether it is still. */
async function runAnew(flags: readonly string[]) {
  const dataDir = join(folder, 'unmade')
  const ended = await run(['serve', ...flags], {
    DATABASE_URL: '',
    HELIOGRAPH_MASTER_KEY: '',
    HELIOGRAPH_DATA_DIR: dataDir,
  })
  expect(existsSync(dataDir)).toBe(false)
  return ended
}

it('a port that is taken is refused in one line, before anything is made', async () => {
  const cause = `listen EADDRINUSE: address already in use 127.0.0.1:${takenPort}.\n`
  const told = `HELIOGRAPH_HOST and HELIOGRAPH_PORT say an address that the service cannot listen on: ${cause}`
  expect(await runAnew(['--port', takenPort])).toEqual({ exitCode: 3, told })
  const metrics = ['--port', '0', '--admin-port', takenPort]
  expect(await runAnew(metrics)).toEqual({
    exitCode: 3,
    told: `HELIOGRAPH_ADMIN_PORT says a port that the service cannot listen on: ${cause}`,
  })
  const last = Number(takenPort) + 8
  const browsers = ['--port', '0', '--probe-ports', `${takenPort}-${last}`]
  const { exitCode, told: words } = await runAnew(browsers)
  expect(words).toMatch(
    /^HELIOGRAPH_HOST and HELIOGRAPH_PROBE_PORTS say an address .*EADDRINUSE[^\n]*\n$/,
  )
  expect(exitCode).toBe(3)
})

it.each(['8080', '0'])(
  'an address of another machine is refused as early (port %s)',
  async (port) => {
    const { exitCode, told } = await runAnew(['--host', '203.0.113.1', '--port', port])
    expect(told).toMatch(/^HELIOGRAPH_HOST and HELIOGRAPH_PORT .*203\.0\.113\.1[^\n]*\n$/)
    expect(exitCode).toBe(3)
  },
)

it.each([
  ['certificate authorities that are none', '--extra-ca', 'file', /HELIOGRAPH_EXTRA_CA: /],
  [
    'a folder of checkpoints that cannot be made',
    '--audit-checkpoint-dir',
    'file/checkpoints',
    /HELIOGRAPH_AUDIT_CHECKPOINT_DIR: checkpoints .* into \S+file\/checkpoints \(ENOTDIR/,
  ],
  [
    'a folder of checkpoints that cannot be written',
    '--audit-checkpoint-dir',
    '/proc/self',
    /HELIOGRAPH_AUDIT_CHECKPOINT_DIR: checkpoints .* into \/proc\/self \(/,
  ],
])('%s: the start is refused before anything is made', async (_what, flag, path, words) => {
  const given = path.startsWith('/') ? path : join(folder, path)
  const { exitCode, told } = await runAnew(['--port', '0', flag, given])
  expect(told).toMatch(words)
  expect(exitCode).toBe(2)
})

it.each([
  ['', 'The data folder /proc/self/x cannot be used: ENOENT'],
  [undefined, 'HELIOGRAPH_DATA_DIR: ENOENT'],
])('a data folder that nobody can make is refused at once (database: %s)', async (url, words) => {
  const left = url === undefined ? {} : { DATABASE_URL: url }
  const serve = ['serve', '--port', '0', '--data-dir', '/proc/self/x']
  const { exitCode, told } = await run(serve, { ...left, HELIOGRAPH_MASTER_KEY: '' })
  expect(told).toContain(words)
  expect(exitCode).toBeGreaterThan(0)
})

it('no process works with another master key than that of the database', async () => {
  const create = ['admins', 'create', '--first-name', 'Ada', '--last-name', 'Admin', '--email']
  expect(await run([...create, 'ada@example.com'])).toEqual({ exitCode: 0, told: '' })
  const other = { HELIOGRAPH_MASTER_KEY: OTHER_KEY }
  for (const args of [
    [...create, 'bo@example.com'],
    ['serve', '--port', '0'],
  ]) {
    const { exitCode, told } = await run(args, other)
    expect(told).toContain('The master key from HELIOGRAPH_MASTER_KEY is not the one')
    expect(exitCode).toBe(2)
  }
  const emails = await database.db.selectFrom('admin_user').select('email').execute()
  expect(emails).toEqual([{ email: 'ada@example.com' }])
})

it.each([
  ['serve', '--port', '0'],
  ['keys', 'list'],
  ['migrate'],
  ['secrets', 'status'],
  ['secrets', 'reseal'],
  ['audit', 'verify'],
  ['backup', '/dev/null/backup'],
])('%s makes no master key for a database with secrets', async (...words) => {
  expect((await run(['migrate'])).exitCode).toBe(0)
  const dataDir = join(folder, 'without-key')
  const without = { HELIOGRAPH_MASTER_KEY: '', HELIOGRAPH_DATA_DIR: dataDir }
  const { exitCode, told } = await run(words, without)
  expect(told).toContain(`is missing: there is no ${join(dataDir, 'master.key')}, and no setting`)
  expect(exitCode).toBe(2)
  expect(existsSync(dataDir)).toBe(false)
})

it('a database that refuses access is told apart from one that is down', async () => {
  const missing = toUrl(withDatabase(database.connection, 'missing_database'))
  const { exitCode, told } = await run(['keys', 'list'], { DATABASE_URL: missing })
  expect(told).toMatch(
    /^The database refused access: database "missing_database" does not exist\. See .*DATABASE_URL/,
  )
  expect(exitCode).toBe(3)
})

it('a start whose database is away ends, and does not promise to go on by itself', async () => {
  const away = 'postgresql://nobody@127.0.0.1:1/nothing'
  const { exitCode, told } = await run(['serve', '--port', '0'], { DATABASE_URL: away })
  expect(told).toMatch(
    /^The database cannot be reached .* A service that runs goes on by itself .*ECONNREFUSED.*\n$/,
  )
  expect(exitCode).toBe(3)
})

it.each([
  ['a master key that is none', 'short', 'data', /MASTER_KEY .*: .*32 bytes/],
  ['a data folder that is a file', '', 'file', /HELIOGRAPH_DATA_DIR: ENOTDIR/],
  ['a data folder below a file', '', 'file/data', /HELIOGRAPH_DATA_DIR: ENOTDIR/],
])('names the setting of %s, without a stack', async (_what, masterKey, dataDir, words) => {
  const { exitCode, told } = await run(['keys', 'list'], {
    HELIOGRAPH_MASTER_KEY: masterKey,
    HELIOGRAPH_DATA_DIR: join(folder, dataDir),
  })
  expect(told).toMatch(words)
  expect(told).not.toMatch(/\n\s+at /)
  expect(exitCode).toBe(2)
})
