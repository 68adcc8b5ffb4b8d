/*
 * A database that a service has prepared, to clone: what a first start makes, which takes a quarter of a second of CPU
 * time, is made once for all test files of a run. Owns the template; how a database is prepared is tested in
 * `foundation.db.test.ts`, on databases that are not.
 */
import { tmpdir } from 'node:os'
import { inject } from 'vitest'
import { loadConfig } from '../../src/app/config/load-config.ts'
import { openFoundation } from '../../src/app/foundation.ts'
import { systemClock, type Clock } from '../../src/platform/clock.ts'
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

/** By the time of the first start. */
const templates = new Map<string, Promise<string>>()

/**
 * Like `createTestDatabase`, but with what a service that goes by the clock makes at its first start. By the time of
 * the system that start was earlier in the run.
 */
export async function createPreparedDatabase(
  clock: Clock,
  options: Omit<TestDatabaseOptions, 'isEmpty' | 'template'> = {},
): Promise<TestDatabase> {
  const time = clock === systemClock ? 'now' : String(clock.now().getTime())
  const template = templates.get(time) ?? findTemplate(time, clock)
  templates.set(time, template)
  return createTestDatabase({ ...options, template: await template })
}

async function findTemplate(time: string, clock: Clock): Promise<string> {
  const { administration, template } = inject('postgres')
  const prepared = `${template}_${time}`
  await withClient(administration, async (client) => {
    await client.query('select pg_advisory_lock($1)', [LOCK_KEY])
    const known = 'select from pg_database where datname = $1'
    if ((await client.query(known, [prepared])).rowCount !== 0) return
    const unfinished = `${prepared}_unfinished`
    await client.query(`drop database if exists "${unfinished}" with (force)`)
    await cloneDatabase(client, unfinished)
    await prepare(unfinished, clock)
    await client.query(`alter database "${unfinished}" rename to "${prepared}"`)
  })
  return prepared
}

async function prepare(name: string, clock: Clock): Promise<void> {
  const { connection } = inject('postgres')
  const config = loadConfig({
    DATABASE_URL: toUrl(withDatabase(connection, name)),
    HELIOGRAPH_DATA_DIR: tmpdir(),
    HELIOGRAPH_MASTER_KEY: PREPARED_MASTER_KEY,
  })
  const foundation = await openFoundation(config, {
    purpose: 'service',
    log: SILENT_LOGGER,
    clock,
  })
  await foundation.close()
}
