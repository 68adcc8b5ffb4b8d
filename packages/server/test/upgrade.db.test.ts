/*
 * An installation of an older version, upgraded: its schema is that of the first eighteen migrations, with rows
 * in every table that the program of that time wrote. Nothing of it is lost, and the service goes on with it.
 */
import { STREAM_SEQUENCE } from '@heliograph/ssf'
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'
import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createAuditChainer } from '../src/changes/audit/chain/audit-chainer.ts'
import { verifyAuditChain } from '../src/changes/audit/verify-audit-chain.ts'
import type { CommandIo } from '../src/cli/command-io.ts'
import { runProgram } from '../src/cli/program.ts'
import { migrateDatabase } from '../src/schema/migrate.ts'
import { createTestDatabase, type TestDatabase } from './support/database.ts'
import { listCounterDrift } from './support/list-counter-drift.ts'
import { startLoopbackReceiver, type LoopbackReceiver } from './support/loopback-receiver.ts'
import { toUrl } from './support/to-url.ts'

const OLD_MIGRATIONS = 18
const FIXTURE = join(import.meta.dirname, 'fixtures', 'schema-0018.sql.gz')
/** What the old installation was set up with. */
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')
const API_KEY = 'k2sk_v1_oyBusSbjfRkpuYHI59BpRddHJN43Tqq5DJ0ddZCc1U1gtw'
/** Rows of these are gone as soon as they are committed. */
const EMPTY_TABLES = ['audit_pending']
/** Devices that nothing was reported on gain a result of the checks of other systems. */
const COUNTED_ANEW = ['check_counter', 'check_result']

const nothing = () => undefined
const LOG = { debug: nothing, info: nothing, warn: nothing, error: nothing }

let folder: string
let database: TestDatabase
let receiver: LoopbackReceiver
/** The content of each table before the upgrade, as JSON text of its rows. */
const before = new Map<string, TableContent>()

interface TableContent {
  readonly columns: readonly string[]
  readonly rows: readonly string[]
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upgrade-'))
  database = await createTestDatabase({ isEmpty: true })
  receiver = await startLoopbackReceiver()
  await migrateDatabase(database.connection, { log: LOG, folder: await copyOldMigrations() })
  await database.pool.query(gunzipSync(await readFile(FIXTURE)).toString())
  await addressToReceiver()
  for (const { name, columns } of await listTables()) {
    before.set(name, { columns, rows: await readRows(name, columns) })
  }
  await migrateDatabase(database.connection, { log: LOG })
})

afterAll(async () => {
  await receiver.close()
  await database.close()
  await rm(folder, { recursive: true, force: true })
})

it('begins with rows in every table', () => {
  const empty = [...before].filter(([, { rows }]) => rows.length === 0).map(([name]) => name)
  expect(empty).toEqual(EMPTY_TABLES)
})

it('keeps every row of every table as it was', async () => {
  const present = new Map((await listTables()).map(({ name, columns }) => [name, columns]))
  for (const [name, { columns, rows }] of before) {
    expect(present.get(name), `the table ${name}`).toEqual(expect.arrayContaining([...columns]))
    const upgraded = await readRows(name, columns)
    if (COUNTED_ANEW.includes(name))
      expect(upgraded, name).toEqual(expect.arrayContaining([...rows]))
    else expect(upgraded, name).toEqual(rows)
  }
})

it('has a counted result of every check of another system on every device that it targets', async () => {
  const { rows } = await database.pool.query<{ status: string; count: string }>(
    `select r.status, count(*) from device d cross join posture_check c
       left join check_result r on r.device_id = d.id and r.check_id = c.id
     where c.type = 'external' and c.target_type = 'devices' and d.platform = any(c.platforms)
     group by r.status`,
  )
  expect(rows).toContainEqual({
    status: 'unknown',
    count: expect.stringMatching(/^[1-9]/) as string,
  })
  expect(rows.map(({ status }) => status)).not.toContain(null)
  const drift = await listCounterDrift(database.db)
  expect(drift.filter(({ status }) => status === 'unknown')).toEqual([])
})

it('finds every device by its status and its time to be blocked, which follow it from then on', async () => {
  const client = await database.pool.connect()
  const states = async () => {
    const { rows } = await client.query<{ state: string; found: string | null }>(
      `select d.auth_state || coalesce(' ' || d.will_block_at, '') as state,
         s.auth_state || coalesce(' ' || s.will_block_at, '') as found
       from device d left join device_auth_state s on s.device_id = d.id order by d.id`,
    )
    expect(rows.map(({ found }) => found)).toEqual(rows.map(({ state }) => state))
    return rows.map(({ state }) => state)
  }
  const present = await states()
  expect(present).toHaveLength(before.get('device')?.rows.length ?? 0)
  await client.query('begin')
  await client.query(`update device set auth_state = 'Notified', will_block_at = null`)
  expect(await states()).toEqual(present.map(() => 'Notified'))
  const blocked = (day: string) =>
    client.query(`update device set auth_state = 'Will Block', will_block_at = '${day}Z'`)
  for (const day of ['2026-01-02 03:04:05', '2026-02-03 04:05:06']) {
    await blocked(day)
    expect(await states()).toEqual(present.map(() => `Will Block ${day}+00`))
  }
  await client.query('rollback')
  client.release()
})

it('knows of each check for which platforms it has SQL', async () => {
  const { rows } = await database.pool.query<{
    queries: Record<string, string>
    platforms: string[]
  }>('select queries, query_platforms as platforms from posture_check order by id')
  expect(rows.flatMap(({ platforms }) => platforms)).not.toEqual([])
  for (const { queries, platforms } of rows) {
    const queried = Object.entries(queries).flatMap(([name, text]) => (text === '' ? [] : [name]))
    expect(platforms).toEqual(queried.sort())
  }
})

it('keeps the audit chain whole', async () => {
  await createAuditChainer(database.db, { logError: () => undefined }).flush()
  expect(await verifyAuditChain(database.db)).toMatchObject({
    isWhole: true,
    entryCount: before.get('audit_entry')?.rows.length,
    unchained: { entryCount: 0 },
    head: await readLastHash(),
  })
})

/** The end of the chain as the old program made it. */
async function readLastHash(): Promise<string> {
  const { rows } = await database.pool.query<{ head: string }>(
    `select encode(hash, 'hex') as head from audit_entry order by sequence desc limit 1`,
  )
  return rows[0]?.head ?? ''
}

/**
 * Each list with the table that holds its records, and a search with how many it finds at least. A newer version
 * may bring further checks.
 */
const LISTS: readonly (readonly [path: string, table: string, search: string, found: number])[] = [
  ['/admin_users', 'admin_user', 'email:grace@example.com', 1],
  ['/audit_logs', 'audit_entry', 'actor_name~"a"', 1],
  ['/auth_logs', 'auth_log_session', 'person_name:"Ada Lovelace"', 1],
  ['/checks', 'posture_check', 'name~"firewall"', 1],
  ['/device_groups', 'device_group', 'name:Laptops', 1],
  ['/devices', 'device', 'name:"a device"', 1],
  ['/exemption_requests', 'exemption_request', 'status:open', 1],
  ['/issues', 'issue', 'title~"not as it"', 1],
  ['/live_query_campaigns', 'live_query_campaign', 'name:Uptime', 1],
  ['/person_groups', 'person_group', 'name:Engineering', 1],
  ['/registration_requests', 'registration_request', 'status:pending', 1],
  ['/reporting/queries', 'reporting_query', '', 1],
  ['/ssf_streams', 'ssf_stream', '', 1],
  ['/webhooks', 'webhook', '', 1],
]

it('lists and finds what there was', async () => {
  const service = await serve('api')
  try {
    for (const [path, table, search, found] of LISTS) {
      const all = await service.list(`${path}?per_page=100`)
      const rows = before.get(table)?.rows.length ?? 0
      const least = Math.min(rows, 100)
      expect([path, path === '/checks' ? Math.min(all.length, least) : all.length]).toEqual([
        path,
        least,
      ])
      if (search === '') continue
      const matches = await service.list(`${path}?query=${encodeURIComponent(search)}`)
      expect(matches.length, `${path} ${search}`).toBeGreaterThanOrEqual(found)
      expect(matches.length, `${path} ${search}`).toBeLessThanOrEqual(all.length)
    }
  } finally {
    await service.stop()
  }
})

it('delivers what was queued, signed and numbered as before', async () => {
  const service = await serve('api,worker')
  try {
    await vi.waitFor(() => expect(pathsReceived()).toEqual(['/events', '/webhooks', '/webhooks']), {
      timeout: 20_000,
      interval: 50,
    })
    const push = receiver.requests.find(({ path }) => path === '/events')
    expect(push?.headers.authorization).toBe('Bearer kept')
    const { keys } = (await service.get('/ssf/jwks.json')) as JSONWebKeySet
    const { payload } = await jwtVerify(push?.body ?? '', createLocalJWKSet({ keys }))
    expect(payload['events']).toHaveProperty([
      'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change',
    ])
    // The number that follows the last one of the old installation.
    expect(payload[STREAM_SEQUENCE]).toBe(42)
  } finally {
    await service.stop()
  }
  expect(await verifyAuditChain(database.db)).toMatchObject({ isWhole: true })
})

function pathsReceived(): string[] {
  return receiver.requests.map(({ path }) => path).sort()
}

async function copyOldMigrations(): Promise<string> {
  const source = join(import.meta.dirname, '../src/schema/migrations')
  const files = (await readdir(source)).filter((name) => name.endsWith('.sql')).sort()
  for (const name of files.slice(0, OLD_MIGRATIONS)) {
    await copyFile(join(source, name), join(folder, name))
  }
  return folder
}

/** The receivers have other addresses now, and what is queued for them is of today. */
async function addressToReceiver(): Promise<void> {
  await database.pool.query(
    `update ssf_stream set endpoint_url = $1 where name = 'Upgraded push stream'`,
    [`${receiver.url}/events`],
  )
  await database.pool.query(`update webhook set url = $1 where name = 'Upgraded webhook'`, [
    `${receiver.url}/webhooks`,
  ])
  await database.pool.query(
    `update delivery set created_at = now(), next_attempt_at = now() where state = 'queued'`,
  )
}

async function listTables(): Promise<{ name: string; columns: string[] }[]> {
  const { rows } = await database.pool.query(
    `select t.table_name as name, array_agg(c.column_name::text order by c.ordinal_position) as columns
     from information_schema.tables t join information_schema.columns c using (table_schema, table_name)
     where t.table_schema = 'public' and t.table_type = 'BASE TABLE' and t.table_name <> 'schema_migration'
     group by 1 order by 1`,
  )
  return rows as { name: string; columns: string[] }[]
}

async function readRows(table: string, columns: readonly string[]): Promise<string[]> {
  const names = columns.map((column) => `"${column}"`).join(', ')
  const { rows } = await database.pool.query(
    `select row_to_json(t)::text as row from (select ${names} from "${table}") t order by 1`,
  )
  return (rows as { row: string }[]).map(({ row }) => row)
}

/** The real service on the upgraded database, in this process. */
async function serve(roles: string) {
  const stopping = new AbortController()
  let printed = ''
  const io = {
    stdout: new PassThrough().on('data', (chunk: Buffer) => (printed += chunk.toString())),
    stderr: new PassThrough().resume(),
    environment: {
      DATABASE_URL: toUrl(database.connection),
      HELIOGRAPH_MASTER_KEY: MASTER_KEY,
      HELIOGRAPH_DATA_DIR: folder,
      HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1',
      HELIOGRAPH_LOG_LEVEL: 'error',
      HELIOGRAPH_ROLES: roles,
    },
    interruption: stopping.signal,
    setExitCode: () => undefined,
  }
  const ended = runProgram(['serve', '--port', '0'], io as unknown as CommandIo)
  await vi.waitFor(() => expect(printed).toMatch(/ready at http/), { timeout: 30_000 })
  const url = /http:\S+/.exec(printed)?.[0] ?? ''
  const get = async (path: string): Promise<unknown> => {
    const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${API_KEY}` } })
    const text = await answer.text()
    expect([path, answer.status, text]).toEqual([path, 200, text])
    return JSON.parse(text)
  }
  return {
    get,
    list: async (path: string) => ((await get(path)) as { data: unknown[] }).data,
    stop: async () => {
      stopping.abort()
      await ended
    },
  }
}
