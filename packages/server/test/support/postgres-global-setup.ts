/*
 * One PostgreSQL server for all database tests of a run, with a migrated database to clone. The
 * server is the embedded one unless TEST_DATABASE_URL names another (role with CREATEDB).
 */
import { chmod, mkdtemp, readdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  REPORTING_ROLE,
  removeDataFolder,
  startEmbeddedPostgres,
} from '@heliograph/embedded-postgres'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { toClientConfig, withRole } from '../../src/platform/db/connection.ts'
import { isMemoryFolder } from './memory-folder.ts'
import { withDatabase } from './with-database.ts'
import type { DatabaseConnection } from '../../src/platform/db/connection.ts'
import { migrateDatabase } from '../../src/schema/migrate.ts'
import { newSecret } from '../../src/platform/ids.ts'
import { SILENT_LOGGER } from '../../src/platform/silent-logger.ts'
import './test-postgres.ts'

const FOLDER_PREFIX = 'heliograph-test-'
const CONNECTIONS_MAX = 200
/** A run that has just made its folder has not locked it yet. */
const LEFTOVER_AGE_MS = 60_000

interface TestServer {
  readonly administration: DatabaseConnection
  readonly connection: DatabaseConnection
  readonly role: string
  readonly reporting: DatabaseConnection
  stop(): Promise<void>
}

/** Starts the server and makes the template; answers the teardown, which leaves nothing behind. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const url = process.env['TEST_DATABASE_URL']
  const server = url === undefined ? await startServer() : await useServer(url)
  const template = `heliograph_template_${newSecret(6).toLowerCase().replaceAll('-', '_')}`
  const { administration, connection, reporting, role } = server
  try {
    await execute(administration, `create database "${template}" owner "${role}"`)
    await migrateDatabase(withDatabase(connection, template), { log: SILENT_LOGGER })
  } catch (error) {
    await server.stop()
    throw error
  }
  const isThrownAway = url === undefined
  const keepsDatabases = isThrownAway && !isMemoryFolder()
  project.provide('postgres', {
    administration,
    connection,
    reporting,
    role,
    template,
    keepsDatabases,
  })
  return async () => {
    // With those that were made of it: `prepared-database.ts`.
    if (!isThrownAway) await dropAll(administration, template)
    await server.stop()
  }
}

async function startServer(): Promise<TestServer> {
  await removeLeftovers()
  const dataDir = await mkdtemp(join(tmpdir(), FOLDER_PREFIX))
  // As root the server, another user, passes through; nobody but the owner can list it.
  await chmod(dataDir, 0o711)
  const server = await startEmbeddedPostgres({
    dataDir,
    log: SILENT_LOGGER,
    connectionsMax: CONNECTIONS_MAX,
    isDurable: false,
  })
  return {
    administration: server.administration,
    connection: server.connection,
    reporting: server.reporting,
    role: server.connection.user,
    async stop() {
      await server.stop()
      await removeDataFolder(dataDir, SILENT_LOGGER)
    },
  }
}

async function useServer(url: string): Promise<TestServer> {
  const role = decodeURIComponent(new URL(url).username)
  const reporting = withRole({ url }, REPORTING_ROLE, 'reporting')
  await execute(
    { url },
    `do $$ begin create role ${REPORTING_ROLE} login password 'reporting';
     exception when duplicate_object then null; end $$`,
  )
  return {
    administration: { url },
    connection: { url },
    reporting,
    role,
    stop: () => Promise.resolve(),
  }
}

/** Ends the servers of runs that were killed; a run that is alive holds the lock of its folder. */
async function removeLeftovers(): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(FOLDER_PREFIX))
  for (const name of names) {
    await removeLeftover(join(tmpdir(), name)).catch(() => undefined)
  }
}

async function removeLeftover(dataDir: string): Promise<void> {
  const { mtimeMs } = await stat(dataDir)
  if (Date.now() - mtimeMs < LEFTOVER_AGE_MS) return
  await removeDataFolder(dataDir, SILENT_LOGGER)
}

async function dropAll(administration: DatabaseConnection, prefix: string): Promise<void> {
  const names = `select datname as name from pg_database where starts_with(datname, '${prefix}')`
  for (const { name } of await execute(administration, names)) {
    await execute(administration, `drop database "${name}" with (force)`)
  }
}

async function execute(connection: DatabaseConnection, sql: string): Promise<{ name: string }[]> {
  const client = new Client(toClientConfig(connection))
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<{ name: string }>(sql)).rows
  } finally {
    await client.end()
  }
}
