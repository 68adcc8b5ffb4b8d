/*
 * A database that a service has prepared, to clone: what a first start makes, which takes a quarter of a second of CPU time,
 * is made once for all test files of a run. Owns the template; how a database is prepared is tested in
 * `foundation.db.test.ts`, on databases that are not.
 */
import { tmpdir } from 'node:os'
import { inject } from 'vitest'
import { loadConfig } from '../../src/app/config/load-config.ts'
import { openFoundation } from '../../src/app/foundation.ts'
import { SILENT_LOGGER } from '../../src/platform/silent-logger.ts'
import {
  cloneDatabase,
  createTestDatabase,
  withClient,
  type TestDatabase,
  type TestDatabaseOptions,
} from './database.ts'
import { toUrl } from './to-url.ts'
import { withDatabase } from './with-database.ts'

/** What a prepared database is sealed with: whoever uses one starts under this key. */
export const PREPARED_MASTER_KEY = Buffer.alloc(32, 'prepared').toString('base64')

/** Held while the template is made: workers start at once. */
const LOCK_KEY = 7_106_113

let template: Promise<string> | undefined

/** Like `createTestDatabase`, but with what a service makes at its first start. */
export async function createPreparedDatabase(
  options: Omit<TestDatabaseOptions, 'isEmpty' | 'template'> = {},
): Promise<TestDatabase> {
  template ??= findTemplate()
  return createTestDatabase({ ...options, template: await template })
}

async function findTemplate(): Promise<string> {
  const { administration, preparedTemplate } = inject('postgres')
  await withClient(administration, async (client) => {
    await client.query('select pg_advisory_lock($1)', [LOCK_KEY])
    const known = 'select from pg_database where datname = $1'
    if ((await client.query(known, [preparedTemplate])).rowCount !== 0) return
    const unfinished = `${preparedTemplate}_unfinished`
    await client.query(`drop database if exists "${unfinished}" with (force)`)
    await cloneDatabase(client, unfinished)
    await prepare(unfinished)
    await client.query(`alter database "${unfinished}" rename to "${preparedTemplate}"`)
  })
  return preparedTemplate
}

async function prepare(name: string): Promise<void> {
  const { connection } = inject('postgres')
  const config = loadConfig({
    DATABASE_URL: toUrl(withDatabase(connection, name)),
    HELIOGRAPH_DATA_DIR: tmpdir(),
    HELIOGRAPH_MASTER_KEY: PREPARED_MASTER_KEY,
  })
  const foundation = await openFoundation(config, { purpose: 'service', log: SILENT_LOGGER })
  await foundation.close()
}
