import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.ts'
import { insertDevice } from '../../../../test/support/factories.ts'
import { DEEP_SQL, HOSTILE_SQL } from '../../../../test/support/hostile-reporting-sql.ts'
import { withDatabase } from '../../../../test/support/with-database.ts'
import { LEGITIMATE_SQL } from '../../../../test/support/legitimate-reporting-sql.ts'
import { toClientConfig } from '../../../platform/db/connection.ts'
import { openDatabase, type Database } from '../../../platform/db/database.ts'
import { newSecret } from '../../../platform/ids.ts'
import type { Schema } from '../../../schema/schema.ts'
import { syncReportingViews } from '../reporting-view-store.ts'
import type { ReportingAccess } from './reporting-access.ts'
import { ReportingSandbox } from './reporting-sandbox.ts'
import { readRows } from './reporting-session-store.ts'
import { DatabaseNetwork } from '../../../platform/db/database-network.ts'

/** Stands in a table that no reporting query may read. */
const SECRET = 'canary-secret-5d1f'
const BYTES_MAX = 100_000

let database: TestDatabase
let sandbox: ReportingSandbox
const warnings: string[] = []
const log = { warn: (fields: object) => void warnings.push(JSON.stringify(fields)) }

const createSandbox = (access: ReportingAccess, db = database.db) =>
  new ReportingSandbox({ db, log, access, resultBytesMax: BYTES_MAX })

beforeAll(async () => {
  database = await createTestDatabase()
  await syncReportingViews(database.db)
  await database.pool.query(`create table canary (secret text not null)`)
  await database.pool.query(`insert into canary values ('${SECRET}')`)
  await insertReports()
  sandbox = createSandbox(database.reporting)
})

afterAll(async () => {
  sandbox.close()
  await database.close()
})

async function insertReports(): Promise<void> {
  const deviceId = await insertDevice(database.db, { name: 'reporter' })
  const rows: readonly (readonly [string, object])[] = [
    ['users', { uid: '0', username: 'root', shell: '/bin/sh' }],
    ['users', { uid: '501', username: 'ada', shell: '/bin/zsh' }],
    ['os_version', { major: '15', minor: '1', version: '15.1', platform: 'darwin' }],
    ['uptime', { days: '40', hours: '2' }],
    ['apps', { name: 'Mail', bundle_version: '1.2' }],
  ]
  for (const [table, columns] of rows) {
    await database.pool.query(
      `insert into reporting_record (table_name, device_id, columns, collected_at)
       values ($1, $2, $3, now())`,
      [table, deviceId, JSON.stringify(columns)],
    )
  }
  await database.pool.query(
    `insert into reporting_record (table_name, device_id, columns, collected_at)
     select 'rpm_packages', $1, jsonb_build_object('name', repeat('x', 100)), now()
     from generate_series(1, 2000)`,
    [deviceId],
  )
}

/** What a statement could leave behind. */
async function readTraces() {
  const { rows } = await database.pool.query(`
    select (select count(*)::int from pg_class where relname like '%hostile%') as relations,
      (select count(*)::int from pg_namespace where nspname ~ 'hostile') as schemas,
      (select count(*)::int from pg_roles where rolname = 'hostile') as roles,
      (select count(*)::int from pg_largeobject_metadata) as large_objects,
      (select count(*)::int from pg_locks join pg_database on pg_database.oid = database
        where locktype = 'advisory' and datname = current_database()) as locks,
      (select count(*)::int from pg_extension where extname = 'dblink') as extensions,
      (select last_value::text || is_called from device_id_seq) as sequence,
      (select string_agg(setconfig::text, ',') from pg_db_role_setting
        join pg_database on pg_database.oid = setdatabase and datname = current_database()) as settings,
      (select secret from canary) as secret`)
  return rows[0] as Readonly<Record<string, unknown>>
}

describe('an address of reports that did not answer at the start', () => {
  it('does not hold the start up', async () => {
    const isOneDatabase = () => new Promise<boolean>(() => undefined)
    const silent = createSandbox({ ...database.reporting, isOneDatabase })
    await silent.start()
    silent.close()
  })

  it('answers nothing before it is known to lead to the database of the service', async () => {
    const isOneDatabase = vi.fn(async () => true)
    const late = createSandbox({ ...database.reporting, isOneDatabase })
    isOneDatabase.mockRejectedValueOnce(new Error('Connection terminated unexpectedly'))
    isOneDatabase.mockResolvedValueOnce(false)
    await expect(late.run('select 1 as one')).rejects.toThrow('Connection terminated')
    await expect(late.run('select 1 as one')).rejects.toMatchObject({
      code: 'reporting_not_set_up',
    })
    expect(warnings.at(-1)).toContain('leads to another database')
    await late.run('select 1 as one')
    expect((await late.run('select 1 as one')).rows).toHaveLength(1)
    expect(isOneDatabase).toHaveBeenCalledTimes(3)
    late.close()
  })
})

describe('the role of reporting queries', () => {
  const statements = Object.values(HOSTILE_SQL).flat()
  /** What the server ends in no time is for statements that may run for ever. */
  const runUnchecked = (sql: string, statementTimeoutMs = 60_000) => {
    const limits = { statementTimeoutMs, rows: 100, bytes: BYTES_MAX }
    return readRows(database.reporting, sql, limits, new AbortController().signal)
  }

  it('leaves nothing behind and reads no secret, whatever statement gets past the check', async () => {
    const before = await readTraces()
    const notifications: unknown[] = []
    const listener = new Client(toClientConfig(database.connection))
    await listener.connect()
    listener.on('notification', (message) => notifications.push(message))
    await listener.query('listen hostile')
    const leaks: string[] = []
    for (const sql of statements) {
      const { rows } = await runUnchecked(sql, 250).catch((error: unknown) => ({
        rows: [error instanceof Error ? error.message : String(error)],
      }))
      if (rows.join().includes(SECRET)) leaks.push(sql)
    }
    await listener.query('select 1')
    await listener.end()
    expect(leaks).toEqual([])
    expect(notifications).toEqual([])
    expect(await readTraces()).toEqual(before)
  })

  it.each([
    'select secret from public.canary',
    'select * from public.api_key',
    'select * from public.reporting_record',
    'select * from pg_catalog.pg_class',
    'select * from pg_catalog.pg_settings',
    'select * from pg_catalog.pg_stat_activity',
    'select * from information_schema.tables',
    `select set_config('search_path', '', false)`,
    `select pg_sleep(1)`,
    `select pg_advisory_lock(1)`,
    `select pg_notify('hostile', 'x')`,
    `select lo_create(4242)`,
    `select nextval('public.device_id_seq')`,
    `select query_to_xml('select 1', true, true, '')`,
    `select ('select 1'::text).ts_stat`,
    `select pg_read_file('PG_VERSION')`,
    `select pg_terminate_backend(1)`,
  ])('is refused by the database itself: %s', async (sql) => {
    await expect(runUnchecked(sql)).rejects.toMatchObject({ code: '42501' })
  })

  it('cannot write, and finds its settings anew on each connection', async () => {
    const settings = `select current_setting('search_path') as path, current_setting('transaction_read_only') as reads`
    const { rows } = await runUnchecked(settings)
    expect(JSON.parse(rows[0] ?? '')).toEqual({
      path: 'reporting, pg_catalog, pg_temp',
      reads: 'on',
    })
  })
})

describe('the sandbox', () => {
  it.each(LEGITIMATE_SQL)('runs %s', async (sql) => {
    const { rows, bytes } = await sandbox.run(sql)
    expect(bytes).toBe(rows.reduce((sum, row) => sum + Buffer.byteLength(row), 0))
  })

  it('answers every row as an object, whatever its columns are called', async () => {
    const { rows } = await sandbox.run(
      `select 'a' as result, 'b' as rows, 'c' as text, null as columns`,
    )
    expect(rows.map((row) => JSON.parse(row) as unknown)).toEqual([
      { result: 'a', rows: 'b', text: 'c', columns: null },
    ])
  })

  it('answers times as the API does, whatever their columns are called', async () => {
    const time = `'2026-01-02T03:04:05Z'::timestamptz`
    const { rows } = await sandbox.run(
      `select ${time} as result, ${time} + interval '1 millisecond' as "a ""b'", null::timestamptz as none,
        ${time} as twice, ${time} as twice, '2026-01-02T03:04:05+00:00' as told,
        'infinity'::timestamptz as never, '0044-03-15 BC'::timestamptz as ides`,
    )
    expect(rows.map((row) => JSON.parse(row) as unknown)).toEqual([
      {
        result: '2026-01-02T03:04:05.000Z',
        [`a "b'`]: '2026-01-02T03:04:05.001Z',
        none: null,
        twice: '2026-01-02T03:04:05+00:00',
        told: '2026-01-02T03:04:05+00:00',
        never: 'infinity',
        ides: '0044-03-15T00:00:00+00:00 BC',
      },
    ])
    const [first] = (await sandbox.run('select collected_at from users')).rows
    expect(first).toMatch(/T\d\d:\d\d:\d\d\.\d{3}Z"/)
  })

  it.each([
    ['not allowed', 'select * from public.canary', /no longer allowed/],
    ['too slow', `select count(*) from ${crossed()} users u1`, /longer than 10 seconds/],
    ['too large in all', 'select name from rpm_packages', /larger than 100000 bytes/],
    [
      'too large in one row',
      'select jsonb_agg(name) from rpm_packages',
      /larger than 100000 bytes/,
    ],
    ['failing on the data', 'select username::int from users', /invalid input syntax/],
  ])('refuses what is %s', async (_what, sql, message) => {
    await expect(sandbox.run(sql)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(message) as string,
    })
  })

  it.each(Object.entries(DEEP_SQL))('refuses what nests too deeply: %s', async (_what, sql) => {
    await expect(sandbox.run(sql)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('runs many at once, on few connections, and leaves none open', async () => {
    const runs = Array.from({ length: 20 }, () => sandbox.run('select username from users'))
    const counts = await Promise.all(runs)
    expect(counts.map(({ rows }) => rows.length)).toEqual(Array(20).fill(2))
    await expect.poll(countConnections).toBe(0)
  })

  it('ends what runs when it closes', async () => {
    const closing = createSandbox(database.reporting)
    const running = closing.run(`select count(*) from ${crossed()} users u1`)
    const ended = expect(running).rejects.toThrow()
    await expect.poll(countConnections).toBe(1)
    closing.close()
    await ended
    await expect(closing.run('select 1')).rejects.toMatchObject({ code: 'unavailable' })
  })
})

/** A join without an end. */
function crossed(): string {
  return Array.from({ length: 40 }, (_, index) => `users a${index}, `).join('')
}

async function countConnections(): Promise<number> {
  const { rows } = await database.pool.query(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and usename = $1`,
    [database.reporting.role],
  )
  return (rows as { count: number }[])[0]?.count ?? -1
}

describe('a role that is not set up', () => {
  const reasons = async (access: Partial<ReportingAccess>) => {
    warnings.length = 0
    const other = createSandbox({ ...database.reporting, ...access })
    await expect(other.run('select 1')).rejects.toMatchObject({
      code: 'reporting_not_set_up',
      message: expect.stringContaining('docs/operations.md') as string,
    })
    return warnings.join()
  }

  it('is refused when it does not exist', async () => {
    expect(await reasons({ role: 'nobody_reporting' })).toContain('there is no role')
  })

  it('is refused when the service may not make it', async () => {
    const role = 'nobody_reporting'
    expect(await reasons({ role, ownPassword: 'x' })).toContain('may not make the role')
  })

  it('is refused when it is that of the service, or a superuser', async () => {
    const { connection, role, administration } = inject('postgres')
    expect(await reasons({ connection, role })).toContain('the service itself')
    if ('url' in administration) return
    const { user } = administration
    expect(await reasons({ connection: administration, role: user })).toContain('rights on')
  })

  it('is refused when the connection logs in somebody else', async () => {
    expect(await reasons({ connection: database.connection })).toContain('another role')
  })

  it('is refused when it reaches more than the views', async () => {
    const { role } = database.reporting
    await database.pool.query(`grant select (secret) on canary to ${role}`)
    expect(await reasons({})).toContain('public.canary')
    await database.pool.query(`revoke select (secret) on canary from ${role}`)
    await expect(createSandbox(database.reporting).run('select 1')).resolves.toBeDefined()
  })

  it('says once in the log what is missing when the service starts, and starts', async () => {
    warnings.length = 0
    const other = createSandbox({ ...database.reporting, role: 'nobody_reporting' })
    await other.prepare()
    await other.prepare()
    expect(warnings).toHaveLength(1)
  })

  it('gets its views back when another version made them anew', async () => {
    await database.pool.query('drop schema reporting cascade')
    await syncReportingViews(database.db)
    await expect(sandbox.run('select username from users')).resolves.toMatchObject({
      rows: [expect.any(String), expect.any(String)],
    })
  })
})

describe('a service that may make roles', () => {
  const role = `sandbox_${newSecret(6).toLowerCase().replaceAll('-', '_')}_reporting`
  let administration: Database<Schema>

  beforeAll(async () => {
    const { rows } = await database.pool.query('select current_database() as name')
    const { name = '' } = (rows as { name: string }[])[0] ?? {}
    administration = openDatabase(withDatabase(inject('postgres').administration, name), {
      network: new DatabaseNetwork(),
      poolMax: 2,
      logError: () => undefined,
    })
  })

  afterAll(async () => {
    await administration.pool.query(`drop owned by ${role}; drop role ${role}`)
    await administration.close()
  })

  it('makes the role of reporting queries by itself', async () => {
    const { connection } = database.reporting
    if ('url' in connection) return
    const own = createSandbox(
      { connection: { ...connection, user: role }, role, ownPassword: 'a password' },
      administration.db,
    )
    await own.prepare()
    const { rows } = await own.run('select username from users order by uid')
    expect(rows).toEqual(['{"username": "root"}', '{"username": "ada"}'])
    const stored = await administration.pool.query(
      'select rolpassword, rolsuper, rolinherit from pg_authid where rolname = $1',
      [role],
    )
    expect(stored.rows[0]).toEqual({
      rolpassword: expect.stringMatching(/^SCRAM-SHA-256\$4096:/) as string,
      rolsuper: false,
      rolinherit: false,
    })
  })
})
