import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SILENT_LOGGER } from '../platform/silent-logger.ts'
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts'
import { toUrl } from '../../test/support/to-url.ts'
import { ConfigError, loadConfig } from './config/load-config.ts'
import { openFoundation } from './foundation.ts'
import { markUnfinishedRestore } from '../schema/unfinished-restore-store.ts'

let database: TestDatabase
const masterKey = randomBytes(32).toString('base64')

beforeEach(async () => {
  database = await createTestDatabase()
})

afterEach(() => database.close())

/** For what begins without the schema: making it takes a second of CPU time. */
async function useEmptyDatabase(): Promise<void> {
  await database.close()
  database = await createTestDatabase({ isEmpty: true })
}

async function open(purpose: 'service' | 'command', key = masterKey): Promise<void> {
  const config = loadConfig({
    DATABASE_URL: toUrl(database.connection),
    HELIOGRAPH_MASTER_KEY: key,
  })
  const foundation = await openFoundation(
    config,
    purpose === 'service' ? { purpose, log: SILENT_LOGGER } : { purpose },
  )
  await foundation.close()
}

/** Names that no program gave; one that prepares the database corrects them. */
async function renameChecks(): Promise<void> {
  await database.db.updateTable('posture_check').set({ name: 'Renamed' }).execute()
}

async function countRenamed(): Promise<number> {
  const rows = await database.db
    .selectFrom('posture_check')
    .select('id')
    .where('name', '=', 'Renamed')
    .execute()
  return rows.length
}

async function countRecords() {
  const count = async (table: 'signing_key' | 'organisation' | 'posture_check') => {
    const rows = await database.db.selectFrom(table).select('created_at').execute()
    return rows.length
  }
  return {
    keys: await count('signing_key'),
    organisations: await count('organisation'),
    hasChecks: (await count('posture_check')) > 0,
  }
}

describe('addresses of one database', () => {
  beforeEach(useEmptyDatabase)

  const openWith = async (setting: string, url: string, purpose: 'service' | 'command') => {
    const texts = { DATABASE_URL: toUrl(database.connection), HELIOGRAPH_MASTER_KEY: masterKey }
    const config = loadConfig({ ...texts, [setting]: url })
    const log = SILENT_LOGGER
    const foundation = await openFoundation(
      config,
      purpose === 'service' ? { purpose, log } : { purpose },
    )
    await foundation.close()
  }

  it.each([
    ['HELIOGRAPH_DATABASE_SESSION_URL', 'service'],
    ['HELIOGRAPH_MIGRATION_DATABASE_URL', 'service'],
    ['HELIOGRAPH_MIGRATION_DATABASE_URL', 'command'],
  ] as const)(
    '%s of another one is refused by a %s, which touches neither',
    async (setting, purpose) => {
      const other = await createTestDatabase({ isEmpty: true })
      try {
        const refused = openWith(setting, toUrl(other.connection), purpose)
        await expect(refused).rejects.toThrow(`${setting} leads to another database`)
        for (const { pool } of [other, database]) {
          const { rows } = await pool.query(`select to_regclass('schema_migration') as ledger`)
          expect(rows).toEqual([{ ledger: null }])
        }
        await openWith(setting, toUrl(database.connection), purpose)
      } finally {
        await other.close()
      }
    },
  )
})

it('neither a service nor a command works with a restore that has ended half-way', async () => {
  await open('command')
  const client = await database.pool.connect()
  await markUnfinishedRestore(client).finally(() => client.release())
  for (const purpose of ['service', 'command'] as const) {
    await expect(open(purpose)).rejects.toThrow('was not finished')
  }
})

it('says of a service whose statements do not find the tables what mends it', async () => {
  await open('command')
  const url = toUrl(database.connection)
  const elsewhere = `${url}${url.includes('?') ? '&' : '?'}options=-c%20search_path%3Delsewhere`
  const config = loadConfig({
    DATABASE_URL: elsewhere,
    HELIOGRAPH_MIGRATION_DATABASE_URL: url,
    HELIOGRAPH_MASTER_KEY: masterKey,
  })
  const refused = openFoundation(config, { purpose: 'service', log: SILENT_LOGGER })
  await expect(refused).rejects.toThrow(/alter role .* set search_path = public/)
})

describe('the preparation of a database', () => {
  it('is done whole by the first command on an empty database', async () => {
    await useEmptyDatabase()
    await open('command')
    expect(await countRecords()).toEqual({ keys: 1, organisations: 1, hasChecks: true })
    const { rows } = await database.pool.query(
      `select count(*)::int as views from pg_views where schemaname = 'reporting'`,
    )
    expect((rows as { views: number }[])[0]?.views).toBeGreaterThan(0)
  })

  it('is not repeated by a command on a database that this program prepared', async () => {
    await open('service')
    await renameChecks()
    await open('command')
    expect(await countRenamed()).toBeGreaterThan(0)
  })

  it('is done at every start of a service', async () => {
    await open('service')
    await renameChecks()
    await open('service')
    expect(await countRenamed()).toBe(0)
  })

  it('leaves checks and views of reporting as a newer program has made them', async () => {
    await open('service')
    await renameChecks()
    await database.pool.query(`comment on schema reporting is 'newer'`)
    await database.pool.query(
      `insert into schema_migration (version, name, checksum, compatible_from)
       select max(version) + 1, 'newer', 'any', max(version) from schema_migration`,
    )
    await open('service')
    expect(await countRenamed()).toBeGreaterThan(0)
    const { rows } = await database.pool.query(
      `select obj_description('reporting'::regnamespace, 'pg_namespace') as comment`,
    )
    expect(rows).toEqual([{ comment: 'newer' }])
  })

  it('is repeated by a command after another program prepared the database', async () => {
    await open('command')
    await renameChecks()
    await database.db.updateTable('organisation').set({ prepared_for: 'another' }).execute()
    await open('command')
    expect(await countRenamed()).toBe(0)
    await renameChecks()
    await open('command')
    expect(await countRenamed()).toBeGreaterThan(0)
  })

  it('is repeated for a master key that another was added to', async () => {
    await open('command')
    await renameChecks()
    await open('command', `${randomBytes(32).toString('base64')},${masterKey}`)
    expect(await countRenamed()).toBe(0)
  })

  it('finds a master key that is not that of the database', async () => {
    await open('command')
    await expect(open('command', randomBytes(32).toString('base64'))).rejects.toThrow(ConfigError)
  })
})
