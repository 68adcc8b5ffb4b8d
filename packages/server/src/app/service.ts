/*
 * The service as a process runs it: opens, starts in order, stops in reverse order. What it consists
 * of is wired in compose.ts.
 */
import { composeApplication } from './compose.ts'
import type { Config } from './config/load-config.ts'
import { systemClock } from '../platform/clock.ts'
import { startMetricsServer, type MetricsServer } from '../platform/http/metrics-server.ts'
import { findFreePort } from '../platform/net/find-free-port.ts'
import type { Logger } from '../platform/logger.ts'
import { openServices, type Services } from './services.ts'
import { openTlsSource, type TlsSource } from './tls-source.ts'

/** Receivers that wait come back all at once after a restart; the system caps it at its own limit. */
const LISTEN_BACKLOG = 4_096

/** A service that answers requests. */
export interface RunningService {
  readonly baseUrl: string
  readonly port: number
  /** The port of the metrics; undefined when they are off. */
  readonly adminPort: number | undefined
  /** Stops the intake, then the workers, then the database. Safe to call twice. */
  stop(): Promise<void>
}

/**
 * Starts the service of a configuration and resolves when it answers.
 *
 * @throws ConfigError, DatabaseStartError, or the error of a port that is taken
 */
export async function startService(given: Config, log: Logger): Promise<RunningService> {
  const config = await chooseFreePort(given)
  const tls = await openTlsSource(config, systemClock)
  const services = await openServices(config, { purpose: 'service', log })
  try {
    return await start(services, tls)
  } catch (error) {
    await services.close()
    throw error
  }
}

async function start(services: Services, tls: TlsSource | undefined): Promise<RunningService> {
  const { config, log } = services
  const application = await composeApplication(services, tls)
  let metrics: MetricsServer | undefined
  const stopAll = async (): Promise<void> => {
    await metrics?.close()
    await application.stop()
    await services.close()
  }
  try {
    if (config.adminPort > 0)
      metrics = await startMetricsServer(application.http, config.adminPort, application.metrics)
    await application.start()
    await application.http.listen({ host: config.host, port: config.port, backlog: LISTEN_BACKLOG })
  } catch (error) {
    await metrics?.close()
    await application.stop()
    throw error
  }
  log.info({ base_url: config.baseUrl, host: config.host, port: config.port }, 'service ready')
  let stopping: Promise<void> | undefined
  return {
    baseUrl: config.baseUrl,
    port: config.port,
    adminPort: metrics?.port,
    stop: () => (stopping ??= stopAll()),
  }
}

/** With port 0 a free port is taken before anything names it: it is part of the default base URL. */
async function chooseFreePort(config: Config): Promise<Config> {
  if (config.port !== 0) return config
  const port = await findFreePort(config.host)
  const baseUrl = new URL(config.baseUrl)
  if (baseUrl.port === '0') baseUrl.port = String(port)
  return { ...config, port, baseUrl: baseUrl.href.replace(/\/+$/, '') }
}
