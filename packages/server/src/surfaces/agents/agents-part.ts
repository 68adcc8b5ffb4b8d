import type { Change } from '../../changes/change.ts'
import {
  toLogError,
  type Foundation,
  type LogError,
  type ServicePart,
} from '../../changes/foundation.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { DEVICE_CHANNEL } from '../../posture/devices/device-store.ts'
import { createReportProblemNotes } from '../../posture/devices/report-problem.ts'
import { LIVE_QUERY_CHANNEL, LIVE_QUERY_PREFIX } from '../../posture/live-queries/live-query.ts'
import { LiveQueryInbox } from '../../posture/live-queries/live-query-inbox.ts'
import {
  findOpenCampaign,
  listOpenCampaignIds,
} from '../../posture/live-queries/open-campaign-store.ts'
import { recordLiveAnswers } from '../../posture/live-queries/record-live-answers.ts'
import { toAgentSettings, type AgentTimes } from '../../posture/osquery/agent-settings.ts'
import { createContactRecorder } from '../../posture/osquery/contact-recorder.ts'
import { createDeviceQueue } from '../../posture/osquery/device-queue.ts'
import { createNodeCache } from '../../posture/osquery/node-cache.ts'
import { findNode } from '../../posture/osquery/node-store.ts'
import { boundSnapshot } from '../../posture/reporting/bound-snapshot.ts'
import { recordSnapshotContent } from '../../posture/reporting/record-reporting-snapshot.ts'
import { REPORT_QUERY_PREFIX, toSchedule } from '../../posture/reporting/reporting-table.ts'
import { REPORTING_TABLES } from '../../posture/reporting/reporting-tables.ts'
import type { ReportedSnapshot } from './collect-log.ts'
import { registerOsqueryRoutes } from './register-osquery-routes.ts'

export interface AgentsSettings extends AgentTimes {
  readonly baseUrl: string
  readonly databasePoolMax: number
  /** What live queries may not name. */
  readonly refusedTables: ReadonlySet<string>
}

/** What of the connections of a process may be writing for devices; the others are for everybody else. */
const WRITING_SHARE = 0.6
/** Agents that send every answer in a message of its own send a round of checks at once. */
const QUEUED_PER_DEVICE = {
  messagesPerDeviceMax: 200,
  bytesPerDeviceMax: 32 * 1024 * 1024,
  waitMaxMs: 30 * SECOND_MS,
}

/**
 * The intake of agents, with what it knows of devices. `caPem` is the authority of a certificate that
 * the service issued itself.
 */
export function createAgentsPart(
  foundation: Foundation,
  config: AgentsSettings,
  caPem: string | undefined,
): ServicePart {
  const { clock, preparedDb: db, log, runChange } = foundation
  const logError = toLogError(log)
  const settings = toAgentSettings(config)
  const nodes = createNodeCache({ clock, settings, findNode: (keyHash) => findNode(db, keyHash) })
  const contacts = createContactRecorder(db, logError)
  const liveQueries = createInbox(foundation.db, config.refusedTables, logError)
  const schedule = toSchedule(REPORTING_TABLES)
  const writes = createDeviceQueue({
    runningMax: Math.max(1, Math.floor(config.databasePoolMax * WRITING_SHARE)),
    ...QUEUED_PER_DEVICE,
  })
  return {
    name: 'agents',
    roles: ['agents'],
    mount: (http) =>
      registerOsqueryRoutes(http, {
        db,
        runChange,
        clock,
        settings,
        nodes,
        contacts,
        writes,
        reporting: {
          schedule: () => schedule,
          prefix: REPORT_QUERY_PREFIX,
          boundSnapshot,
          recordSnapshots,
        },
        noteProblems: createReportProblemNotes(),
        liveQueries: {
          idPrefix: LIVE_QUERY_PREFIX,
          pendingQueries: (deviceId) => liveQueries.pendingQueries(deviceId),
          recordResults: (change, deviceId, results) =>
            recordLiveAnswers(change, liveQueries, deviceId, results),
        },
        baseUrl: config.baseUrl,
        certificatePem: () => caPem,
      }),
    channels: {
      [DEVICE_CHANNEL]: (deviceId) => nodes.invalidate(deviceId),
      [LIVE_QUERY_CHANNEL]: (campaignId) => liveQueries.refresh(campaignId),
    },
    onReconnect: () => {
      nodes.invalidate('all')
      liveQueries.refreshAll()
    },
    start: async () => {
      liveQueries.refreshAll()
      contacts.start()
    },
    stop: async () => {
      await liveQueries.stop()
      await contacts.stop()
    },
  }
}

async function recordSnapshots(
  change: Change,
  deviceId: string,
  snapshots: readonly ReportedSnapshot[],
): Promise<void> {
  for (const { content, ...snapshot } of snapshots) {
    await recordSnapshotContent(change.tx, { ...snapshot, deviceId }, content, change.at)
  }
}

function createInbox(
  db: Foundation['db'],
  refusedTables: AgentsSettings['refusedTables'],
  logError: LogError,
): LiveQueryInbox {
  return new LiveQueryInbox({
    findOpenCampaign: (campaignId) => findOpenCampaign(db, campaignId, refusedTables),
    listOpenCampaignIds: () => listOpenCampaignIds(db),
    logError,
  })
}
