/*
 * Processes of the service over one database, each with one role: as many of each role. What they and PostgreSQL use is
 * read together.
 */
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { Client } from 'pg'
import { SUPERUSER } from '@heliograph/embedded-postgres'
import { loadConfig } from '../src/app/config/load-config.ts'
import { openFoundation, type ServiceFoundation } from '../src/app/foundation.ts'
import { toClientConfig } from '../src/platform/db/connection.ts'
import { findFreePort } from '../src/platform/net/find-free-port.ts'
import { PROCESS_ROLES, type ProcessRole } from '../src/schema/process-role.ts'
import { toUrl } from '../test/support/to-url.ts'
import { createTemporaryDataFolder } from './data-folder.ts'
import { asOwner } from './owner-database.ts'
import type { BenchRun } from './scenario.ts'
import { startServiceChild } from './service-child.ts'
import { openCostReaderOf, type ServiceCost } from './service-cost.ts'

/** The database of an installation and the settings that its processes share. */
export interface Installation {
  readonly run: BenchRun
  readonly services: ServiceFoundation
  readonly settings: Readonly<Record<string, string>>
}

export interface ProcessGroup {
  /** Of each role. */
  readonly count: number
  readonly ports: Readonly<Record<ProcessRole, readonly number[]>>
  readonly readCost: () => Promise<ServiceCost>
  stop(): Promise<void>
}

const POOL_MAX = 8
/** For a dozen processes with their pools and what they hold beside them. */
const CONNECTIONS_MAX = 250

/** Opens an embedded database that no process owns, so that all of them reach it in the same way. */
export async function openInstallation(run: BenchRun): Promise<Installation> {
  const masterKey = randomBytes(32).toString('base64')
  const config = loadConfig({
    HELIOGRAPH_DATA_DIR: await createTemporaryDataFolder(run),
    HELIOGRAPH_DATABASE_POOL_MAX: String(CONNECTIONS_MAX),
    HELIOGRAPH_MASTER_KEY: masterKey,
  })
  const services = await openFoundation(config, { purpose: 'command' })
  run.cleanup.add(() => services.close())
  await stopAutovacuum(services)
  const settings = {
    DATABASE_URL: toUrl(services.connection),
    HELIOGRAPH_MIGRATION_DATABASE_URL: toUrl(services.ownerConnection),
    HELIOGRAPH_MASTER_KEY: masterKey,
    HELIOGRAPH_BASE_URL: config.baseUrl,
    HELIOGRAPH_DATABASE_POOL_MAX: String(POOL_MAX),
    HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1',
    HELIOGRAPH_CHECK_IN_HOLD_SECONDS: '0',
    HELIOGRAPH_CHECK_INTERVAL_SECONDS: '604800',
    HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '10000000',
  }
  return { run, services, settings }
}

/** What autovacuum does is the database's, whoever fills it, and would fall into the phase of one group or another. */
async function stopAutovacuum({ ownerConnection }: ServiceFoundation): Promise<void> {
  const client = new Client({ ...toClientConfig(ownerConnection), user: SUPERUSER })
  await client.connect()
  try {
    await client.query('alter system set autovacuum = off')
    await client.query('select pg_reload_conf()')
  } finally {
    await client.end()
  }
}

/** Starts `count` processes of each role, over tables that have just been vacuumed. */
export async function startProcessGroup(
  installation: Installation,
  count: number,
): Promise<ProcessGroup> {
  await asOwner(installation.services, (db) => sql`vacuum (analyze, skip_locked)`.execute(db))
  const started: { readonly role: ProcessRole; readonly processes: StartedProcess[] }[] = []
  for (const role of PROCESS_ROLES) {
    const processes = await startProcesses(installation, { role, count })
    started.push({ role, processes })
  }
  const all = started.flatMap(({ processes }) => processes)
  const portsOf = (role: ProcessRole) =>
    started.filter((one) => one.role === role).flatMap(({ processes }) => processes.map(toPort))
  return {
    count,
    ports: { api: portsOf('api'), agents: portsOf('agents'), worker: portsOf('worker') },
    readCost: await openCostReaderOf(
      all.map(({ pid }) => pid),
      installation.services.db,
    ),
    stop: async () => void (await Promise.all(all.map((process) => process.stop()))),
  }
}

interface StartedProcess {
  readonly pid: number
  readonly port: number
  stop(): Promise<void>
}

function toPort({ port }: StartedProcess): number {
  return port
}

export interface ProcessOptions {
  readonly role: ProcessRole
  readonly count: number
  /** Settings beside those of the installation. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Starts processes of one role, one after another. */
export async function startProcesses(
  { run, settings }: Installation,
  options: ProcessOptions,
): Promise<StartedProcess[]> {
  const processes: StartedProcess[] = []
  for (let number = 1; number <= options.count; number += 1) {
    run.progress(`starting ${options.role} ${number} of ${options.count}`)
    const port = await findFreePort('127.0.0.1')
    const child = await startServiceChild(run, {
      ...settings,
      ...options.settings,
      HELIOGRAPH_ROLES: options.role,
      HELIOGRAPH_DATA_DIR: await createTemporaryDataFolder(run),
      HELIOGRAPH_PORT: String(port),
    })
    processes.push({ ...child, port })
  }
  return processes
}
