/*
 * The service as a process runs it: opens the database, makes the parts, starts those of its roles, and
 * stops everything in reverse order. What there is to start stands in parts.ts.
 */
import { toLogError, type ServicePart } from '../changes/foundation.ts'
import { SYSTEM_ACTOR } from '../changes/audit/audit-entry.ts'
import { toConsoleSite, toSignInAddress } from '../organisation/admin-sign-in/console-site.ts'
import { issueFirstAdminLink } from '../organisation/admin-sign-in/sign-in-link.ts'
import { CleanupStack } from '../platform/cleanup-stack.ts'
import { systemClock } from '../platform/clock.ts'
import { startMetricsServer, type MetricsServer } from '../platform/http/metrics-server.ts'
import { createJobCounts } from '../platform/jobs/job-counts.ts'
import { startJobs } from '../platform/jobs/job-runner.ts'
import type { RunningJob } from '../platform/jobs/running-job.ts'
import type { Logger } from '../platform/logger.ts'
import { explainListening, LISTENING } from '../platform/net/explain-listening.ts'
import { allowsEveryAddress } from '../platform/net/target-policy.ts'
import { LOCK_CLASSES } from '../schema/lock-keys.ts'
import { PROCESS_ROLES } from '../schema/process-role.ts'
import { assertCheckpointFolder } from './assert-checkpoint-folder.ts'
import { chooseAddresses } from './choose-addresses.ts'
import type { Config } from './config/load-config.ts'
import type { DatabaseFolder } from './database-folder.ts'
import { readFileHandleLimit, warnOfFewFileHandles } from './file-handles.ts'
import { openFoundation, type ServiceFoundation } from './foundation.ts'
import { createHttp, createHttpServerPart, createRoutesPart } from './http-server.ts'
import { openOutbound } from './outbound.ts'
import { createParts, selectByRole, type Parts } from './parts.ts'
import { tellServedSettings } from './served-settings.ts'
import { collectHealth, createSupervisor } from './supervisor.ts'
import { openTlsSource, type TlsSource } from './tls-source.ts'

/** A service that answers requests. */
export interface RunningService {
  readonly baseUrl: string
  readonly port: number
  /** The port of the metrics; undefined when they are off. */
  readonly adminPort: number | undefined
  /** The address of the link of the first admin; undefined when an admin can sign in, or none is served here. */
  readonly findSetUpUrl: () => Promise<string | undefined>
  /** Stops the intake, then the workers, then the database. Safe to call twice. */
  stop(): Promise<void>
}

/**
 * Starts the service of a configuration and resolves when it answers. A database that has been begun to be opened
 * belongs to the service that runs; when the start fails, whoever began closes it.
 *
 * @throws ConfigError, DatabaseStartError, or the error of a port that is taken
 */
export async function startService(
  given: Config,
  log: Logger,
  folder?: Promise<DatabaseFolder>,
): Promise<RunningService> {
  const config = await chooseAddresses(given)
  const tls = await openTlsSource(config, systemClock)
  const outbound = await openOutbound(config)
  await assertCheckpointFolder(config)
  const foundation = await openFoundation(config, { purpose: 'service', log, folder })
  const cleanup = new CleanupStack()
  cleanup.add(() => foundation.close())
  try {
    const parts = await createParts(foundation, { caPem: tls?.caPem, tls: tls?.material, outbound })
    return await start(foundation, parts, tls, cleanup)
  } catch (error) {
    await cleanup.run().catch((failure: unknown) => {
      log.error({ err: failure }, 'the database could not be closed')
    })
    throw error
  }
}

async function start(
  foundation: ServiceFoundation,
  parts: Parts,
  tls: TlsSource | undefined,
  cleanup: CleanupStack,
): Promise<RunningService> {
  const { config, log } = foundation
  warnOfOpenTargets(parts, log)
  warnOfFewFileHandles(readFileHandleLimit(), log)
  const selected = selectByRole(parts.list, config.roles)
  const http = createHttp(foundation, selected, collectHealth(selected, parts.listener), tls)
  const server = createHttpServerPart(http, foundation, tls, parts)
  const jobs = createJobsPart(foundation, parts, server)
  const metrics = createMetricsPart(foundation, [...parts.list, jobs], http)
  const supervised = { listener: parts.listener, network: foundation.network }
  const routes = createRoutesPart(http)
  const started = [...selected, metrics, routes, jobs, server]
  const supervisor = createSupervisor(started, supervised, log)
  await supervisor.start()
  cleanup.add(() => supervisor.stop())
  if (config.roles.includes('api')) {
    try {
      cleanup.add(await tellServedSettings(config))
    } catch (error) {
      log.info({ err: error }, 'commands are not told the settings of the service')
    }
  }
  log.info({ base_url: config.baseUrl, host: config.host, port: config.port }, 'service ready')
  let stopping: Promise<void> | undefined
  return {
    baseUrl: config.baseUrl,
    port: config.port,
    adminPort: metrics.port(),
    findSetUpUrl: () => findSetUpUrl(foundation),
    stop: () => (stopping ??= cleanup.run()),
  }
}

/** Nobody who restarts the service gets a link that opens it, once somebody can sign in. */
async function findSetUpUrl({ config, runChange }: ServiceFoundation): Promise<string | undefined> {
  if (!config.roles.includes('api')) return undefined
  const link = await runChange({ actor: SYSTEM_ACTOR }, issueFirstAdminLink)
  return link && toSignInAddress(toConsoleSite(config.baseUrl), link.token)
}

/** Deliveries could then be sent to whatever this machine reaches: databases, metadata of clouds, itself. */
function warnOfOpenTargets({ outbound }: Parts, log: Logger): void {
  if (!allowsEveryAddress(outbound.policy)) return
  log.warn(
    { setting: 'HELIOGRAPH_ALLOWED_TARGETS' },
    'deliveries may reach every address, also those inside this network: name only the receivers that need it',
  )
}

/** Runs what is to be done from time to time. */
function createJobsPart(
  { clock, config, db, log }: ServiceFoundation,
  { jobs, listener }: Parts,
  server: ServicePart,
): ServicePart {
  const own = selectByRole([...jobs, ...(server.jobs ?? [])], config.roles)
  const { counted, metrics } = createJobCounts()
  const lockClass = LOCK_CLASSES.jobs
  let running: RunningJob | undefined
  return {
    name: 'jobs',
    roles: PROCESS_ROLES,
    metrics,
    start: async () => {
      const dependencies = { clock, db, listener, lockClass, logError: toLogError(log) }
      running = startJobs(own.map(counted), dependencies)
    },
    stop: async () => running?.stop(),
  }
}

/** Serves the figures of the parts, when the configuration names a port for them. */
function createMetricsPart(
  { config }: ServiceFoundation,
  parts: readonly ServicePart[],
  http: ReturnType<typeof createHttp>,
): ServicePart & { readonly port: () => number | undefined } {
  const sources = parts.flatMap(({ metrics = [] }) => metrics)
  let server: MetricsServer | undefined
  return {
    name: 'metrics',
    roles: PROCESS_ROLES,
    port: () => server?.port,
    start: async () => {
      if (config.adminPort === 0) return
      server = await explainListening(LISTENING.metrics, () =>
        startMetricsServer(http, config.adminPort, sources),
      )
    },
    stop: async () => server?.close(),
  }
}
