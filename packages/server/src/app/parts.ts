/*
 * The one list of what the service consists of, for the service, the commands, the benchmarks, the
 * documents and the tests alike. Making the parts starts nothing; the supervisor starts what the roles
 * of a process need, in the order of the list.
 */
import { createSecretKey } from 'node:crypto'
// Before the routes of streams: of schemas with the same name the REST API documents its own.
import { createStandardSsfPart } from '../surfaces/standard-ssf/standard-ssf-part.ts'
import type { Schema } from '../schema/schema.ts'
import { createAuditChainPart } from '../changes/audit/audit-chain-part.ts'
import { createChangesPart } from '../changes/changes-part.ts'
import { createLivePart } from '../changes/live/live-part.ts'
import type { ServicePart } from '../changes/foundation.ts'
import { createOrganisationPart } from '../organisation/organisation-part.ts'
import { createPartitionsPart } from '../organisation/partitions/partitions-part.ts'
import { createRetentionPart } from '../organisation/retention/retention-part.ts'
import { createPeoplePart } from '../people/people-part.ts'
import { openDatabase, pingDatabase } from '../platform/db/database.ts'
import { createWriteCheck } from '../platform/db/write-check.ts'
import { createListener, type Listener } from '../platform/db/listener.ts'
import { SYNCHRONISE_INTERVAL_MS } from '../platform/db/synchronised-clock.ts'
import { askingDatabase } from '../platform/http/health.ts'
import type { ApiRoute } from '../platform/http/route.ts'
import type { Job } from '../platform/jobs/job.ts'
import type { Outbound } from '../platform/net/outbound.ts'
import type { TlsMaterial } from '../platform/tls/tls-material.ts'
import { deriveKey } from '../platform/secrets/master-key.ts'
import { personDeviceRoutes } from '../posture/devices/person-device-routes.ts'
import { createDeviceQuestionsPart } from '../posture/device-questions/device-questions-part.ts'
import { createChecksPart, createDevicesPart, createFleetPart } from '../posture/posture-parts.ts'
import { PROCESS_ROLES, type ProcessRole } from '../schema/process-role.ts'
import { createRerunAnswersPart } from '../posture/checks/rerun-answers-part.ts'
import { hurryDevices } from '../posture/osquery/hurried-devices.ts'
import { createAdminDevicesPart } from '../sign-in/admin-devices/admin-devices-part.ts'
import { createDeviceTrust } from '../sign-in/admin-devices/device-trust-read.ts'
import { createProofPart } from '../sign-in/proof/proof-part.ts'
import { createPagesPart } from '../sign-in/pages/pages-part.ts'
import { createGatePart } from '../sign-in/gate-part.ts'
import { createSignInPart } from '../sign-in/sign-in-part.ts'
import { createDiagnosisPart } from '../signals/diagnosis-part.ts'
import { createDeliveryChannels } from '../signals/delivery-channels.ts'
import { createDeliveryPart } from '../signals/delivery-part.ts'
import { DELIVERY_CHANNEL } from '../signals/dispatch/delivery-store.ts'
import { createDeliverySender } from '../signals/dispatch/delivery-sender.ts'
import type { DeliverySettings as EngineSettings } from '../signals/dispatch/delivery-settings.ts'
import { createReceiversPart } from '../signals/receivers-part.ts'
import { createSigningPart, type SigningPart } from '../signals/signing-part.ts'
import { createStreamsPart, type StreamsPart } from '../signals/streams-part.ts'
import { createWebhooksPart } from '../signals/webhooks-part.ts'
import { createAgentsPart, type AgentsPart } from '../surfaces/agents/agents-part.ts'
import { createCallers, withSessions } from '../surfaces/callers.ts'
import { createPermissionCheck } from '../surfaces/check-and-record-permission.ts'
import { createOverviewPart } from '../surfaces/rest/overview/overview-part.ts'
import { createConsolePart } from '../surfaces/console/console-part.ts'
import { withExports } from '../surfaces/rest/exports/export-routes.ts'
import { createRestPart } from '../surfaces/rest/rest-part.ts'
import { createScimPart } from '../surfaces/scim/scim-part.ts'
import { toConnectionLog } from './connection-log.ts'
import { createOriginPart } from './backup/origin-part.ts'
import { createPresencePart } from './presence/presence-part.ts'
import type { ServiceFoundation } from './foundation.ts'
import { createMasterKeyPart } from './master-key-part.ts'
import { openOutbound } from './outbound.ts'

export interface PartsOptions {
  /** The authority of a certificate that the service issued itself. */
  readonly caPem?: string | undefined
  /** The certificate of the service; without it the service speaks plain HTTP. */
  readonly tls?: TlsMaterial | undefined
  /** What requests of the service go through; made by the configuration where it is not given. */
  readonly outbound?: Outbound | undefined
  /** How the delivery engine works, where it differs from the default. */
  readonly engineSettings?: Partial<EngineSettings>
}

/** Who opened the foundation closes it, after the parts have stopped. */
export type PartsFoundation = Omit<ServiceFoundation, 'close'>

/** Everything that the service consists of, made and not started. */
export interface Parts {
  /** In the order in which they start. */
  readonly list: readonly ServicePart[]
  readonly listener: Listener
  readonly outbound: Outbound
  readonly signing: SigningPart
  readonly streams: StreamsPart
  /** Every operation of the REST API, in the order of its documents. */
  readonly routes: readonly ApiRoute[]
  readonly jobs: readonly Job<ProcessRole>[]
  /** Presents another certificate where the service listens beside its main port. */
  readonly setTls: (material: TlsMaterial) => void
}

/** Enough for the claims and outcomes of many receivers: each statement handles a batch. */
const DELIVERY_POOL_MAX = 6

/**
 * Makes the parts of the service.
 *
 * @throws ConfigError for settings that name files or targets which cannot be used
 */
export async function createParts(
  foundation: PartsFoundation,
  { caPem, tls, engineSettings = {}, outbound: opened }: PartsOptions = {},
): Promise<Parts> {
  const { config, log, network, sessionConnection } = foundation
  const outbound = opened ?? (await openOutbound(config))
  const listener = createListener(sessionConnection, { log, network })
  const { organisation, ownParts, lookup } = createOrganisationParts(foundation, outbound)
  const signing = createSigningPart(foundation, config)
  const sender = createDeliverySender({
    ...foundation,
    client: outbound.client,
    channels: createDeliveryChannels(foundation, { signing, outbound, baseUrl: config.baseUrl }),
  })
  const streams = createStreamsPart(foundation, config, { signing, outbound, sender })
  const delivery = createDeliveryPart(
    { foundation, database: openDeliveryDatabase(foundation), listener, outbound, signing },
    config,
    engineSettings,
  )
  const signIn = createSignInParts(foundation, outbound, tls)
  const isSsfEnabled = () => organisation.features.isFeatureEnabled('ssf')
  const wings: ServicePart[] = [
    ...createBaseParts(foundation, outbound),
    createDevicesPart(foundation, config),
    createPeoplePart(foundation, config, personDeviceRoutes(foundation.db, config.baseUrl)),
    createChecksPart(foundation, config),
    ...signIn.list,
    createChangesPart(foundation, config),
    createLivePart({ [DELIVERY_CHANNEL]: ['deliveries'] }),
    ...ownParts,
    createFleetPart(foundation, config, caPem),
    createReceiversPart(foundation, config),
    signing,
    streams,
    createWebhooksPart(foundation, config, { outbound, sender }),
    createDiagnosisPart(foundation, { isSsfEnabled }),
    delivery,
    createOverviewPart(foundation),
  ]
  const routes = withExports(
    wings.flatMap(({ operations = [] }) => operations),
    foundation,
  )
  const { features, keyUsage } = organisation
  const callers = createCallers(foundation, keyUsage, config)
  const checkPermission = createPermissionCheck(keyUsage)
  const agents = createAgentsPart(foundation, config, caPem)
  const owners: readonly ServicePart[] = [
    ...wings,
    agents,
    createRestPart(
      {
        foundation,
        routes,
        features,
        callers: withSessions(callers, lookup, organisation.site),
        checkPermission,
        cursorKey: createSecretKey(deriveKey(foundation.masterKeys.current, 'list cursors')),
      },
      config,
    ),
    createConsolePart(),
    createScimPart(foundation, { callers, checkPermission }, config),
    createStandardSsfPart({ ...streams.context, limits: callers, isEnabled: isSsfEnabled }),
  ]
  const list = [...owners, ...createOverallParts(foundation, owners, agents)]
  const jobs = list.flatMap((part) => part.jobs ?? [])
  return { list, listener, outbound, signing, streams, routes, jobs, setTls: signIn.setTls }
}

/** What is about all the others: for how long they keep what they have, and that they are there. */
function createOverallParts(
  foundation: PartsFoundation,
  owners: readonly ServicePart[],
  { countNodes }: Pick<AgentsPart, 'countNodes'>,
): readonly ServicePart[] {
  const policies = owners.flatMap(({ retention = [] }) => retention)
  return [
    createRetentionPart(foundation, policies),
    createPresencePart(foundation, foundation.config, countNodes),
  ]
}

/** What every process stands on, before what it does. */
function createBaseParts(foundation: PartsFoundation, outbound: Outbound): readonly ServicePart[] {
  return [
    createDatabasePart(foundation),
    createWritesPart(foundation),
    createClockPart(foundation),
    createMasterKeyPart(foundation),
    createAuditChainPart(foundation, foundation.config),
    createOriginPart(foundation),
    createPartitionsPart(foundation),
    createOutboundPart(outbound),
  ]
}

/** The organisation with its admins, and the devices from which these use the console. */
function createOrganisationParts(foundation: PartsFoundation, outbound: Outbound) {
  const { baseUrl } = foundation.config
  const deviceTrust = createDeviceTrust(foundation)
  const organisation = createOrganisationPart(foundation, { baseUrl, outbound, deviceTrust })
  const { site } = organisation
  const adminDevices = createAdminDevicesPart(foundation, { baseUrl, site, deviceTrust })
  const ownParts: readonly ServicePart[] = [organisation, adminDevices]
  return { organisation, ownParts, lookup: { db: foundation.db, deviceTrust } }
}

/** The record of sign-ins, signing in here, and the proof of which device somebody sits at. */
function createSignInParts(
  foundation: PartsFoundation,
  outbound: Outbound,
  tls: TlsMaterial | undefined,
) {
  const { commitNotifier, config } = foundation
  const questions = createDeviceQuestionsPart(foundation)
  const proof = createProofPart(foundation, config, {
    ask: questions.askDevices,
    hurry: (deviceIds, untilMs) => hurryDevices(commitNotifier, deviceIds, untilMs),
    tls,
  })
  const answers = createRerunAnswersPart()
  const { reruns } = answers
  const list = [
    questions,
    answers,
    proof,
    createSignInPart(foundation, config),
    createGatePart(foundation, config, { outbound, ask: questions.askDevices, reruns }),
    createPagesPart({ ...foundation, reruns }, config),
  ]
  return { list, setTls: proof.setTls }
}

/** Who opened the database closes it, after the parts have stopped. */
function createDatabasePart({ db, replicaCounts }: PartsFoundation): ServicePart {
  return {
    name: 'database',
    roles: PROCESS_ROLES,
    health: askingDatabase(() => pingDatabase(db)),
    metrics: [
      {
        name: 'heliograph_replica_reads_total',
        help: 'Statements of reads that a standby may answer, by who answered them',
        kind: 'counter',
        label: 'server',
        read: () => Promise.resolve(new Map(Object.entries(replicaCounts ?? {}))),
      },
    ],
  }
}

/** Says whether what the process is told can be stored. */
function createWritesPart({ db, network }: PartsFoundation): ServicePart {
  const health = askingDatabase(createWriteCheck(db, network))
  return { name: 'database writes', roles: PROCESS_ROLES, health }
}

/** Keeps the time of the process that of the database. */
function createClockPart({ log, synchroniseClock }: PartsFoundation): ServicePart {
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  async function look(): Promise<void> {
    // A database that is away is told by others; the time goes on meanwhile.
    await synchroniseClock().catch((error: unknown) => {
      log.debug({ err: error }, 'the clock of the database could not be read')
    })
    looking = undefined
  }
  return {
    name: 'clock',
    roles: PROCESS_ROLES,
    start: async () => {
      timer = setInterval(() => {
        looking ??= look()
      }, SYNCHRONISE_INTERVAL_MS)
    },
    stop: async () => {
      clearInterval(timer)
      await looking
    },
  }
}

/** Breaks off the requests that are still under way: nobody waits for them, since the other parts have stopped. */
function createOutboundPart({ client }: Outbound): ServicePart {
  return { name: 'outbound requests', roles: ['api', 'worker'], stop: () => client.close(0) }
}

/** The connections of delivery, which are opened when something is delivered. */
export function openDeliveryDatabase({ connection, log, network }: PartsFoundation) {
  return openDatabase<Schema>(connection, {
    network,
    poolMax: DELIVERY_POOL_MAX,
    applicationName: 'heliograph delivery',
    ...toConnectionLog(log),
  })
}

/** What a process with these roles needs. */
export function selectByRole<Item extends { readonly roles: readonly ProcessRole[] }>(
  items: readonly Item[],
  roles: readonly ProcessRole[],
): Item[] {
  return items.filter((item) => item.roles.some((role) => roles.includes(role)))
}
