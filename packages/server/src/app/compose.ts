/*
 * Wires the service: routes, workers and jobs on the services of one process. Who reacts to what is
 * visible here and in compose/, and nowhere else.
 */
import type { FastifyInstance } from 'fastify'
import { adminRoutes } from '../organisation/admins/admin-routes.ts'
import { createKeyUsageRecorder } from '../organisation/api-keys/key-usage-recorder.ts'
import { auditRoutes } from '../changes/audit/audit-routes.ts'
import { checkRoutes } from '../posture/checks/check-routes.ts'
import { addAgents, toAgentSettings, type Agents } from './compose/agents.ts'
import { decisionRoutes } from './compose/decision-routes.ts'
import { addApi, addScim, composeHttp } from './compose/http.ts'
import { startDeviceDeletion } from './compose/device-deletion.ts'
import { startJobs } from './compose/jobs.ts'
import { composeOutbound, type Outbound } from './compose/outbound.ts'
import { postureRoutes } from './compose/posture-routes.ts'
import { composeDelivery, composeSigning, type Delivery, type Signing } from './compose/ssf.ts'
import { composeSignInRoutes, startSignInExpiry } from './compose/sign-in.ts'
import { composeSigningKeyRoutes, startSigningKeyJobs } from './compose/signing-keys.ts'
import { composeStatus } from './compose/status.ts'
import { composeStreamChecks, startHeartbeats } from './compose/stream-checks.ts'
import { composeHistoryRoutes, startBackfills } from './compose/stream-history.ts'
import { addStrictFace, startStreamActivity } from './compose/strict-face.ts'
import { composeWebhookRoutes } from './compose/webhooks.ts'
import { DELIVERY_CHANNEL } from '../signals/dispatch/delivery-engine.ts'
import type { WakeDelivery } from '../signals/dispatch/enqueue-deliveries.ts'
import { deviceRoutes } from '../posture/devices/device-routes.ts'
import { REEVALUATE_CHANNEL } from '../posture/devices/device-status-store.ts'
import { createStatusScheduler, type StatusScheduler } from '../posture/devices/status-scheduler.ts'
import { issueRoutes } from '../posture/issues/issue-routes.ts'
import { liveQueryRoutes } from '../posture/live-queries/campaign-routes.ts'
import { createFeatureSwitches } from '../organisation/settings/feature-switches.ts'
import { organisationRoutes } from '../organisation/settings/organisation-routes.ts'
import { ORGANISATION_CHANNEL } from '../organisation/settings/set-organisation.ts'
import { packageRoutes } from '../posture/enrollment/packages/package-routes.ts'
import { deprovisionedPersonRoutes } from '../people/people/deprovisioned-person-routes.ts'
import { personGroupRoutes } from '../people/people/person-group-routes.ts'
import { personRoutes } from '../people/people/person-routes.ts'
import { SECOND_MS } from '../platform/clock.ts'
import { createListener, type Listener } from '../platform/db/listener.ts'
import type { MetricSource } from '../platform/http/metrics-server.ts'
import type { ApiRoute } from '../platform/http/route.ts'
import { reportingQueryRoutes } from '../posture/reporting/reporting-query-routes.ts'
import { reportingTableRoutes } from '../posture/reporting/reporting-table-routes.ts'
import type { Services } from './services.ts'
import { clientRoutes } from '../signals/clients/client-routes.ts'
import { createPollWaiters, type PollWaiters } from '../signals/poll/poll-waiters.ts'
import { pollRoutes } from '../signals/poll/poll-routes.ts'
import { pollTokenRoutes } from '../signals/poll/poll-token-routes.ts'
import { streamDeliveryRoutes } from '../signals/streams/stream-delivery-routes.ts'
import { streamRoutes } from '../signals/streams/stream-routes.ts'
import { streamStatusRoutes } from '../signals/streams/stream-status-routes.ts'
import { wellKnownRoutes } from '../signals/streams/well-known-routes.ts'
import type { TlsSource } from './tls-source.ts'

/** Longer than any answer takes but a long poll, which is ended first. */
const HTTP_GRACE_MS = 5 * SECOND_MS

/** The wired service of one process. */
export interface Application {
  readonly http: FastifyInstance
  /** Figures of what it does. */
  readonly metrics: readonly MetricSource[]
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

  const waiters = createPollWaiters({ waitersMax: config.longPollsMax })
  const delivery = isRole('worker')
    ? composeDelivery(services, signing, outbound, listener)
    : undefined
  const wake = (destinationId: string) => {
    delivery?.engine.wake(destinationId)
    waiters.wake(destinationId)
  }
  listener.subscribe(DELIVERY_CHANNEL, wake)
  listener.onReconnect(() => waiters.wakeAll())

  const http = composeHttp(services, tls)
  const agents = isRole('agents') ? addAgents(http, services, listener, tls) : undefined
  if (isRole('api')) {
    const routes = listRoutes({ services, signing, outbound, waiters, wake, caPem: tls?.caPem })
    addApi(http, services, { routes, features, keyUsage })
    addScim(http, services, keyUsage)
    addStrictFace(http, services, { signing, outbound, waiters, wake, features, keyUsage })
  }
  const scheduler = isRole('worker') ? composeScheduler(services, listener) : undefined

  return createApplication({
    services,
    http,
    tls,
    parts: { listener, agents, delivery, scheduler, outbound, signing, waiters },
    flushKeyUsage: () => keyUsage.flush(),
    wake,
  })
}

/** What the routes of the API are made of. */
export interface RouteDependencies {
  readonly services: Pick<Services, 'config' | 'db' | 'clock' | 'log' | 'sealer' | 'runChange'>
  readonly signing: Pick<Signing, 'keyRing' | 'refusedKeys'>
  readonly outbound: Outbound
  readonly waiters: PollWaiters
  readonly wake: WakeDelivery
  /** The authority of a certificate that the service issued itself. */
  readonly caPem?: string | undefined
}

/** Every route of the REST API in the order of its documents. */
export function listRoutes({
  services,
  signing,
  outbound,
  waiters,
  wake,
  caPem,
}: RouteDependencies): ApiRoute[] {
  const { config, clock, db, log, runChange, sealer } = services
  const { baseUrl } = config
  const { keyRing, refusedKeys } = signing
  return [
    ...deviceRoutes(db, baseUrl),
    ...postureRoutes(services, composeStatus(services)),
    ...personRoutes(db, baseUrl),
    ...personGroupRoutes(db),
    ...deprovisionedPersonRoutes(db, baseUrl),
    ...checkRoutes(db),
    ...decisionRoutes(services, composeStatus(services)),
    ...issueRoutes(db, baseUrl),
    ...composeSignInRoutes(services),
    ...auditRoutes(db),
    ...adminRoutes(db),
    ...organisationRoutes(db),
    ...liveQueryRoutes({ db, baseUrl, runChange }),
    ...reportingTableRoutes(db, baseUrl),
    ...reportingQueryRoutes({ db, clock, runChange }),
    ...packageRoutes({ baseUrl, settings: toAgentSettings(config), runChange, sealer, caPem }),
    ...wellKnownRoutes({ baseUrl, verificationEndpoint: config.ssfVerificationEndpoint }),
    ...clientRoutes({ db, clock, baseUrl, runChange, wake }),
    ...composeSigningKeyRoutes(services, keyRing),
    ...composeStreamChecks(services, { signing, outbound, wake }),
    ...streamStatusRoutes({ db, runChange, wake }),
    ...composeHistoryRoutes(services, wake),
    ...streamDeliveryRoutes({ db, runChange, wake }),
    ...streamRoutes({
      db,
      clock,
      baseUrl,
      runChange,
      sealer,
      keyRing,
      client: outbound.client,
      targetPolicy: outbound.policy,
      streamsMax: config.streamsMax,
      wake,
      log,
    }),
    ...pollRoutes({ db, clock, keyRing, waiters, refusedKeys }),
    ...pollTokenRoutes({ db, clock, runChange }),
    ...composeWebhookRoutes(services, outbound, wake),
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
  readonly delivery: Delivery | undefined
  readonly scheduler: StatusScheduler | undefined
  readonly outbound: Outbound
  readonly signing: Signing
  readonly waiters: PollWaiters
}

interface ApplicationDependencies {
  readonly services: Services
  readonly http: FastifyInstance
  readonly tls: TlsSource | undefined
  readonly parts: ApplicationParts
  readonly flushKeyUsage: () => Promise<void>
  readonly wake: WakeDelivery
}

function createApplication(dependencies: ApplicationDependencies): Application {
  const { services, http, parts, flushKeyUsage } = dependencies
  const { listener, agents, delivery, scheduler, outbound, signing, waiters } = parts
  const jobs = startJobs(services, {
    isWorker: delivery !== undefined,
    flushKeyUsage,
    refreshKeyRing: () => signing.keyRing.refresh(),
    renewTls: () => renewTls(http, dependencies.tls),
  })
  const keyJobs = startSigningKeyJobs(services, signing.keyRing, listener, {
    isWorker: delivery !== undefined,
    wake: dependencies.wake,
  })
  const dueJobs =
    delivery === undefined
      ? []
      : [
          startDeviceDeletion(services, listener),
          startSignInExpiry(services, listener),
          startStreamActivity(services, listener, (id) => delivery.engine.wake(id)),
          startHeartbeats(services, dependencies.wake),
          startBackfills(services, listener, (id) => delivery.engine.wake(id)),
        ]
  return {
    http,
    metrics: [
      {
        name: 'heliograph_long_polls_waiting',
        help: 'Polls that wait for events at this moment',
        read: () => Promise.resolve(waiters.count()),
      },
    ],
    start: async () => {
      await listener.whenListening()
      await delivery?.start()
      scheduler?.start()
    },
    stop: async () => {
      waiters.close()
      await closeHttp(http)
      await Promise.all([...jobs, ...keyJobs].map((job) => job.stop()))
      await scheduler?.stop()
      await Promise.all(dueJobs.map((job) => job.stop()))
      await delivery?.close()
      await signing.keyRing.proofs.flush()
      await outbound.client.close()
      await signing.pool.close()
      await agents?.liveQueries.stop()
      await agents?.contacts.stop()
      await flushKeyUsage()
      await listener.stop()
    },
  }
}

/** Lets requests under way end; connections that are still open then are closed. */
async function closeHttp(http: FastifyInstance): Promise<void> {
  const timer = setTimeout(() => http.server.closeAllConnections(), HTTP_GRACE_MS)
  await http.close()
  clearTimeout(timer)
}

async function renewTls(http: FastifyInstance, tls: TlsSource | undefined): Promise<void> {
  const renewed = await tls?.renewIfDue()
  if (renewed !== undefined && 'setSecureContext' in http.server) {
    const server = http.server as { setSecureContext(material: object): void }
    server.setSecureContext(renewed)
  }
}
