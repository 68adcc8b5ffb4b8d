/*
 * Wires the service: routes, workers and jobs on the services of one process. Who reacts to what is
 * visible here and in compose/, and nowhere else.
 */
import type { FastifyInstance } from 'fastify'
import { createKeyUsageRecorder } from './api-keys/key-usage-recorder.ts'
import { auditRoutes } from './audit/audit-routes.ts'
import { checkRoutes } from './checks/check-routes.ts'
import { addAgents, type Agents } from './compose/agents.ts'
import { addApi, composeHttp } from './compose/http.ts'
import { startJobs } from './compose/jobs.ts'
import { composeOutbound, type Outbound } from './compose/outbound.ts'
import { composeDelivery, composeSigning, type Signing } from './compose/ssf.ts'
import type { DeliveryEngine } from './delivery/delivery-engine.ts'
import { deviceRoutes } from './devices/device-routes.ts'
import { REEVALUATE_CHANNEL } from './devices/device-status-store.ts'
import { createStatusScheduler, type StatusScheduler } from './devices/status-scheduler.ts'
import { issueRoutes } from './issues/issue-routes.ts'
import { createFeatureSwitches } from './organisation/feature-switches.ts'
import { ORGANISATION_CHANNEL } from './organisation/set-organisation.ts'
import { personRoutes } from './people/person-routes.ts'
import { createListener, type Listener } from './platform/db/listener.ts'
import type { ApiRoute } from './platform/http/route.ts'
import { reportingQueryRoutes } from './reporting/reporting-query-routes.ts'
import type { Services } from './services.ts'
import { authLogRoutes } from './sign-in/auth-log-routes.ts'
import { jwksRoutes } from './ssf/signing/jwks-routes.ts'
import type { TlsSource } from './tls-source.ts'

/** The wired service of one process. */
export interface Application {
  readonly http: FastifyInstance
  /** Begins the background work; the HTTP server is started by the caller. */
  start(): Promise<void>
  /** Ends everything but the services it was composed on, intake first. */
  stop(): Promise<void>
}

/**
 * Composes what the roles of the configuration need.
 *
 * @throws ConfigError for settings that name files or targets which cannot be used
 */
export async function composeApplication(
  services: Services,
  tls: TlsSource | undefined,
): Promise<Application> {
  const { config, connection, log } = services
  const isRole = (role: (typeof config.roles)[number]) => config.roles.includes(role)
  const outbound = await composeOutbound(config)
  const signing = await composeSigning(services)
  const listener = createListener(connection, { log })
  const features = createFeatureSwitches(services.db)
  listener.subscribe(ORGANISATION_CHANNEL, () => features.forget())
  listener.onReconnect(() => features.forget())
  const keyUsage = createKeyUsageRecorder(services.db, services.clock)

  const http = composeHttp(services, tls)
  const agents = isRole('agents') ? addAgents(http, services, listener, tls) : undefined
  if (isRole('api')) {
    const routes = listRoutes({ services, signing, outbound, listener })
    addApi(http, services, { routes, features, keyUsage })
  }
  const engine = isRole('worker')
    ? composeDelivery(services, signing, outbound, listener)
    : undefined
  const scheduler = isRole('worker') ? composeScheduler(services, listener) : undefined

  return createApplication({
    services,
    http,
    tls,
    parts: { listener, agents, engine, scheduler, outbound, signing },
    flushKeyUsage: () => keyUsage.flush(),
  })
}

/** What the routes of the API are made of. */
export interface RouteDependencies {
  readonly services: Pick<Services, 'config' | 'db' | 'clock' | 'sealer' | 'runChange'>
  readonly signing: Pick<Signing, 'keyRing'>
  readonly outbound: Outbound
  readonly listener: Pick<Listener, 'subscribe' | 'onReconnect'>
}

/** Every route of the REST API in the order of its documents. */
export function listRoutes({ services, signing }: RouteDependencies): ApiRoute[] {
  const { config, clock, db } = services
  return [
    ...deviceRoutes(db, config.baseUrl),
    ...personRoutes(db),
    ...checkRoutes(db),
    ...issueRoutes(db, config.baseUrl),
    ...authLogRoutes(db, config.baseUrl),
    ...auditRoutes(db),
    ...reportingQueryRoutes({ db, clock }),
    ...jwksRoutes({ keyRing: signing.keyRing }),
  ]
}

function composeScheduler(services: Services, listener: Listener): StatusScheduler {
  const { clock, db, log, runChange, status } = services
  const scheduler = createStatusScheduler({
    ...status,
    db,
    runChange,
    clock,
    logError: (error, message) => log.error({ err: error }, message),
  })
  listener.subscribe(REEVALUATE_CHANNEL, (payload) => {
    const at = new Date(payload)
    scheduler.wake(Number.isNaN(at.getTime()) ? clock.now() : at)
  })
  return scheduler
}

interface ApplicationParts {
  readonly listener: Listener
  readonly agents: Agents | undefined
  readonly engine: DeliveryEngine | undefined
  readonly scheduler: StatusScheduler | undefined
  readonly outbound: Outbound
  readonly signing: Signing
}

interface ApplicationDependencies {
  readonly services: Services
  readonly http: FastifyInstance
  readonly tls: TlsSource | undefined
  readonly parts: ApplicationParts
  readonly flushKeyUsage: () => Promise<void>
}

function createApplication(dependencies: ApplicationDependencies): Application {
  const { services, http, parts, flushKeyUsage } = dependencies
  const { listener, agents, engine, scheduler, outbound, signing } = parts
  const jobs = startJobs(services, {
    isWorker: engine !== undefined,
    flushKeyUsage,
    refreshKeyRing: () => signing.keyRing.refresh(),
    renewTls: () => renewTls(http, dependencies.tls),
  })
  return {
    http,
    start: async () => {
      await listener.whenListening()
      await engine?.start()
      scheduler?.start()
    },
    stop: async () => {
      await http.close()
      await Promise.all(jobs.map((job) => job.stop()))
      await scheduler?.stop()
      await engine?.close()
      await outbound.client.close()
      await signing.pool.close()
      await agents?.contacts.stop()
      await flushKeyUsage()
      await listener.stop()
    },
  }
}

async function renewTls(http: FastifyInstance, tls: TlsSource | undefined): Promise<void> {
  const renewed = await tls?.renewIfDue()
  if (renewed !== undefined && 'setSecureContext' in http.server) {
    const server = http.server as { setSecureContext(material: object): void }
    server.setSecureContext(renewed)
  }
}
