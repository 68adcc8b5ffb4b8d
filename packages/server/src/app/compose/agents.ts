import type { FastifyInstance } from 'fastify'
import { DEVICE_CHANNEL } from '../../posture/devices/device-store.ts'
import { AGENT_SETTINGS_DEFAULT, type AgentSettings } from '../../posture/osquery/agent-settings.ts'
import {
  createContactRecorder,
  type ContactRecorder,
} from '../../posture/osquery/contact-recorder.ts'
import { createNodeCache, type NodeCache } from '../../posture/osquery/node-cache.ts'
import { findNode } from '../../posture/osquery/node-store.ts'
import { registerOsqueryRoutes } from '../../surfaces/agents/register-osquery-routes.ts'
import type { Config } from '../config/load-config.ts'
import { LIVE_QUERY_CHANNEL, LIVE_QUERY_PREFIX } from '../../posture/live-queries/live-query.ts'
import {
  createLiveQueryInbox,
  type LiveQueryInbox,
} from '../../posture/live-queries/live-query-inbox.ts'
import {
  findOpenCampaign,
  listOpenCampaignIds,
} from '../../posture/live-queries/open-campaign-store.ts'
import { recordLiveAnswers } from '../../posture/live-queries/record-live-answers.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import type { Listener } from '../../platform/db/listener.ts'
import { toUnavailable } from '../../platform/db/unavailable.ts'
import { recordReportingSnapshot } from '../../posture/reporting/record-reporting-snapshot.ts'
import { REPORT_QUERY_PREFIX, toSchedule } from '../../posture/reporting/reporting-table.ts'
import { REPORTING_TABLES } from '../../posture/reporting/reporting-tables.ts'
import type { Services } from '../services.ts'
import type { TlsSource } from '../tls-source.ts'

/** The agent intake of a process. */
export interface Agents {
  readonly contacts: ContactRecorder
  readonly nodes: NodeCache
  readonly liveQueries: LiveQueryInbox
}

/** Adds the agent routes and keeps what they know of devices up to date. */
export function addAgents(
  app: FastifyInstance,
  services: Services,
  listener: Listener,
  tls: TlsSource | undefined,
): Agents {
  const { config, clock, preparedDb: db, log, runChange, status } = services
  const settings = toAgentSettings(config)
  const nodes = createNodeCache({ clock, settings, findNode: (keyHash) => findNode(db, keyHash) })
  const contacts = createContactRecorder(db, (error, message) => log.error({ err: error }, message))
  listener.subscribe(DEVICE_CHANNEL, (deviceId) => nodes.invalidate(deviceId))
  listener.onReconnect(() => nodes.invalidate('all'))
  const liveQueries = composeLiveQueries(services, listener)
  const schedule = toSchedule(REPORTING_TABLES)
  registerOsqueryRoutes(app, {
    db,
    runChange,
    clock,
    settings,
    status,
    nodes,
    contacts,
    reportingSchedule: () => schedule,
    reportingPrefix: REPORT_QUERY_PREFIX,
    recordReportingSnapshots: async (change, deviceId, snapshots) => {
      for (const snapshot of snapshots) {
        await recordReportingSnapshot(change.tx, { ...snapshot, deviceId }, change.at)
      }
    },
    liveQueries: {
      idPrefix: LIVE_QUERY_PREFIX,
      pendingQueries: (deviceId) => liveQueries.pendingQueries(deviceId),
      recordResults: (change, deviceId, results) =>
        recordLiveAnswers(change, liveQueries, deviceId, results),
    },
    baseUrl: config.baseUrl,
    certificatePem: () => tls?.caPem,
    toUnavailable,
  })
  contacts.start()
  return { contacts, nodes, liveQueries }
}

/** Listening that begins, the first time included, may have missed something: all is read. */
function composeLiveQueries({ db, log }: Services, listener: Listener): LiveQueryInbox {
  const inbox = createLiveQueryInbox({
    findOpenCampaign: (campaignId) => findOpenCampaign(db, campaignId),
    listOpenCampaignIds: () => listOpenCampaignIds(db),
    logError: (error, message) => log.error({ err: error }, message),
  })
  listener.subscribe(LIVE_QUERY_CHANNEL, (campaignId) => inbox.refresh(campaignId))
  listener.onReconnect(() => inbox.refreshAll())
  return inbox
}

/** How agents work with this service. */
export function toAgentSettings(config: Config): AgentSettings {
  return {
    ...AGENT_SETTINGS_DEFAULT,
    checkIntervalMs: config.checkIntervalSeconds * SECOND_MS,
    checkInIntervalSeconds: config.checkInIntervalSeconds,
    bodyBytesMax: { ...AGENT_SETTINGS_DEFAULT.bodyBytesMax, log: config.agentLogBytesMax },
  }
}
