/*
 * A service on a database of its own, made of the parts of the product, without a listening port. Does
 * not own who sends requests.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { loadConfig } from '../../src/app/config/load-config.ts'
import { openFoundation, type ServiceFoundation } from '../../src/app/foundation.ts'
import { createHttp } from '../../src/app/http-server.ts'
import { createParts, selectByRole, type Parts, type PartsOptions } from '../../src/app/parts.ts'
import { collectHealth, createSupervisor, type Supervisor } from '../../src/app/supervisor.ts'
import type { ServicePart } from '../../src/changes/foundation.ts'
import type { PERIODIC_JOBS } from '../../src/schema/jobs.ts'
import { CleanupStack } from '../../src/platform/cleanup-stack.ts'
import { systemClock, type Clock } from '../../src/platform/clock.ts'
import type { ApiRoute } from '../../src/platform/http/route.ts'
import { createLogger, type Logger } from '../../src/platform/logger.ts'
import { SILENT_LOGGER } from '../../src/platform/silent-logger.ts'
import { BASE_URL, sendRequest, type TestApi } from './api-app.ts'
import { createKeyAdmin, createTestKey } from './api-keys.ts'
import { ManualClock } from './manual-clock.ts'
import { createPreparedDatabase, PREPARED_MASTER_KEY } from './prepared-database.ts'
import { toUrl } from './to-url.ts'

const CLOSE_GRACE_MS = 1_000

/** A process that is made and not started. */
export interface ComposedProcess {
  readonly parts: Parts
  readonly http: FastifyInstance
  /** `METHOD path` of everything that the parts serve, as the framework knows it. */
  readonly served: readonly string[]
  /** Starts what the roles of the configuration need, but no jobs and no port. */
  readonly supervisor: Supervisor
}

/** Makes what a process with the roles of the configuration consists of. */
export async function composeProcess(
  foundation: ServiceFoundation,
  options?: PartsOptions,
): Promise<ComposedProcess> {
  const served: string[] = []
  const { roles } = foundation.config
  const watch: ServicePart = {
    name: 'watch of routes',
    roles,
    mount: (http) => {
      http.addHook('onRoute', ({ method, url }) => {
        for (const each of [method].flat()) served.push(`${each} ${url}`)
      })
    },
  }
  const parts = await createParts(foundation, options)
  const selected = selectByRole(parts.list, roles)
  const http = createHttp(foundation, [watch, ...selected], collectHealth(selected, parts.listener))
  const server: ServicePart = { name: 'HTTP', roles, stop: () => closeHttp(http) }
  const supervised = { listener: parts.listener, network: foundation.network }
  const supervisor = createSupervisor([...selected, server], supervised, foundation.log)
  return { parts, http, served, supervisor }
}

/**
 * Lets requests under way end, and closes what is open a second later. A browser opens connections before it needs
 * them, which count as busy for minutes; meanwhile a supervisor would take the database away from everybody who shares
 * the foundation.
 */
export async function closeHttp(http: FastifyInstance): Promise<void> {
  const timer = setTimeout(() => http.server.closeAllConnections(), CLOSE_GRACE_MS)
  try {
    await http.close()
  } finally {
    clearTimeout(timer)
  }
}

export interface ComposedApi extends Pick<ComposedProcess, 'http' | 'parts' | 'served'> {
  readonly services: ServiceFoundation
  readonly routes: readonly ApiRoute[]
  readonly close: () => Promise<void>
}

export interface ComposedApiOptions extends PartsOptions {
  /** Settings beside those that every test has: the database, the base URL and a master key. */
  readonly environment?: Readonly<Record<string, string>>
  readonly log?: Logger
  /** What the service takes for the time; the system's when it is left out. */
  readonly clock?: Clock
}

/**
 * Starts what serves the API and, with the role, what delivers. Deliveries may reach 127.0.0.1. The
 * admin of {@link createKeyAdmin} exists.
 */
export async function composeTestApi({
  environment = {},
  log,
  clock = systemClock,
  ...options
}: ComposedApiOptions): Promise<ComposedApi> {
  const cleanup = new CleanupStack()
  const database = await createPreparedDatabase(clock, { poolMax: 1 })
  cleanup.add(() => database.close())
  const dataDir = await mkdtemp(join(tmpdir(), 'composed-'))
  cleanup.add(() => rm(dataDir, { recursive: true, force: true }))
  const config = loadConfig({
    DATABASE_URL: toUrl(database.connection),
    HELIOGRAPH_REPORTING_DATABASE_URL: toUrl(database.reporting.connection),
    HELIOGRAPH_BASE_URL: BASE_URL,
    HELIOGRAPH_DATA_DIR: dataDir,
    HELIOGRAPH_MASTER_KEY: PREPARED_MASTER_KEY,
    HELIOGRAPH_ALLOWED_TARGETS: '127.0.0.1',
    HELIOGRAPH_ROLES: 'api',
    ...environment,
  })
  const services = await openFoundation(config, {
    purpose: 'service',
    log: log ?? createLogger(config.logLevel),
    clock,
  })
  cleanup.add(() => services.close())
  const { parts, http, served, supervisor } = await composeProcess(services, options)
  await supervisor.start()
  cleanup.add(() => supervisor.stop())
  await createKeyAdmin(services.runChange)
  return { services, routes: parts.routes, http, served, parts, close: () => cleanup.run() }
}

/** An API for tests of the whole service, whose parts they do not make. */
export interface ServiceApi extends Omit<TestApi, 'sandbox' | 'deviceTrust' | 'addPublisher'> {
  /** Runs a periodic job once. */
  readonly runJob: (name: keyof typeof PERIODIC_JOBS) => Promise<void>
}

/**
 * The whole API of a service, at a time that stands still, with a key. Requests are limited only where
 * `environment` says so. Close it in `afterAll`.
 */
export async function createServiceApi(
  environment: Readonly<Record<string, string>> = {},
): Promise<ServiceApi> {
  const clock = new ManualClock()
  const { services, http, parts, close } = await composeTestApi({
    environment: { HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '100000', ...environment },
    log: SILENT_LOGGER,
    clock,
  })
  const { db, runChange, sealer, connection } = services
  const createKey: TestApi['createKey'] = (permissions) => createTestKey(services, permissions)
  const key = await createKey([])
  return {
    ...{ app: http, db, clock, runChange, sealer, connection, key, createKey, close },
    request: (url, request = {}) => sendRequest(http, key, url, request),
    runJob: async (name) => {
      const job = parts.jobs.find((each) => each.name === name)
      if (job?.kind !== 'periodic') throw new Error(`there is no job ${name}`)
      await job.run()
    },
  }
}
