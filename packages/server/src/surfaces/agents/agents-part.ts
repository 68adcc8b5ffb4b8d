import type { Change } from '../../changes/change.ts'
import { toLogError, type Foundation, type ServicePart } from '../../changes/foundation.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import type { MetricSource } from '../../platform/http/metrics-server.ts'
import {
  DEVICE_ISSUES_CHANNEL,
  parseDeviceIssues,
} from '../../posture/devices/device-issues-store.ts'
import { DEVICE_CHANNEL } from '../../posture/devices/device-store.ts'
import {
  QUESTION_CHANNEL,
  QUESTION_PREFIX,
} from '../../posture/device-questions/device-question.ts'
import { QuestionInbox } from '../../posture/device-questions/question-inbox.ts'
import { listOpenQuestions } from '../../posture/device-questions/question-store.ts'
import { recordQuestionAnswers } from '../../posture/device-questions/record-question-answers.ts'
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
import { createDeviceQueue, type DeviceQueue } from '../../posture/osquery/device-queue.ts'
import { createNodeCache, type NodeCache } from '../../posture/osquery/node-cache.ts'
import { createHeldReads, type HeldReads } from '../../posture/osquery/held-reads.ts'
import { createHurriedDevices, HURRY_CHANNEL } from '../../posture/osquery/hurried-devices.ts'
import { findNode } from '../../posture/osquery/node-store.ts'
import { boundSnapshot } from '../../posture/reporting/bound-snapshot.ts'
import { recordSnapshotContent } from '../../posture/reporting/record-reporting-snapshot.ts'
import { REPORT_QUERY_PREFIX, toSchedule } from '../../posture/reporting/reporting-table.ts'
import { REPORTING_TABLES } from '../../posture/reporting/reporting-tables.ts'
import type { ReportedSnapshot } from './collect-log.ts'
import type { AgentDependencies } from './agent-handler.ts'
import { registerOsqueryRoutes } from './register-osquery-routes.ts'

export interface AgentsSettings extends AgentTimes {
  readonly baseUrl: string
  readonly databasePoolMax: number
  /** What live queries may not name. */
  readonly refusedTables: ReadonlySet<string>
}

export interface AgentsPart extends ServicePart {
  /** Of how many devices this process holds the node key in memory. */
  readonly countNodes: () => number
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
): AgentsPart {
  const { clock, preparedDb: db, log, runChange } = foundation
  const logError = toLogError(log)
  const settings = toAgentSettings(config)
  const nodes = createNodeCache({ clock, settings, findNode: (keyHash) => findNode(db, keyHash) })
  const contacts = createContactRecorder(db, logError)
  const reads = createHeldReads()
  const hurried = createHurriedDevices(clock)
  const liveQueries = createInbox(foundation, config.refusedTables, reads)
  const questions = createQuestionInbox(foundation, reads)
  return {
    name: 'agents',
    roles: ['agents'],
    countNodes: () => nodes.count(),
    mount: (http) =>
      registerOsqueryRoutes(http, {
        db,
        runChange,
        clock,
        settings,
        nodes,
        contacts,
        reads,
        hurried,
        writes: createWrites(config),
        reporting: createReporting(),
        noteProblems: createReportProblemNotes(),
        liveQueries: toLiveQueries(liveQueries),
        questions: toQuestions(questions),
        baseUrl: config.baseUrl,
        certificatePem: () => caPem,
      }),
    channels: {
      ...toDeviceChannels(nodes, reads),
      [HURRY_CHANNEL]: (payload) => hurried.note(payload),
      [LIVE_QUERY_CHANNEL]: (campaignId) => liveQueries.refresh(campaignId),
      [QUESTION_CHANNEL]: (payload) => questions.refresh(payload.split(' ')),
    },
    onReconnect: () => {
      nodes.invalidate('all')
      liveQueries.refreshAll()
      questions.refreshAll()
    },
    metrics: toMetrics(reads, nodes),
    endWaiting: () => reads.close(),
    start: async () => {
      liveQueries.refreshAll()
      questions.refreshAll()
      contacts.start()
    },
    stop: async () => {
      await questions.stop()
      await liveQueries.stop()
      await contacts.stop()
    },
  }
}

function toMetrics(
  reads: Pick<HeldReads, 'count'>,
  nodes: Pick<NodeCache, 'count'>,
): readonly MetricSource[] {
  return [
    {
      name: 'heliograph_check_ins_held',
      help: 'Devices whose request for work is held at this moment',
      read: () => Promise.resolve(reads.count()),
    },
    {
      name: 'heliograph_nodes_known',
      help: 'Devices whose node key this process holds in memory',
      read: () => Promise.resolve(nodes.count()),
    },
  ]
}

/** What tells that something is known of devices no longer as it is. */
function toDeviceChannels(nodes: NodeCache, reads: HeldReads) {
  return {
    [DEVICE_CHANNEL]: (deviceId: string) => {
      nodes.invalidate(deviceId)
      // Of `all`, none: they come back by themselves within seconds, and not in one moment.
      reads.wake(deviceId)
    },
    [DEVICE_ISSUES_CHANNEL]: (payload: string) => {
      const { deviceIds, hasIssues } = parseDeviceIssues(payload)
      nodes.noteIssues(deviceIds, hasIssues)
    },
  }
}

function createWrites({ databasePoolMax }: AgentsSettings): DeviceQueue {
  return createDeviceQueue({
    runningMax: Math.max(1, Math.floor(databasePoolMax * WRITING_SHARE)),
    ...QUEUED_PER_DEVICE,
  })
}

function createReporting(): AgentDependencies['reporting'] {
  const schedule = toSchedule(REPORTING_TABLES)
  return {
    schedule: () => schedule,
    prefix: REPORT_QUERY_PREFIX,
    boundSnapshot,
    recordSnapshots,
  }
}

function toLiveQueries(inbox: LiveQueryInbox): AgentDependencies['liveQueries'] {
  return {
    idPrefix: LIVE_QUERY_PREFIX,
    pendingQueries: (deviceId) => inbox.pendingQueries(deviceId),
    recordResults: (change, reports) => recordLiveAnswers(change, inbox, reports),
  }
}

function toQuestions(inbox: QuestionInbox): AgentDependencies['questions'] {
  return {
    idPrefix: QUESTION_PREFIX,
    pendingQueries: (deviceId) => inbox.pendingQueries(deviceId),
    recordResults: (change, deviceId, results) =>
      recordQuestionAnswers(change, inbox, deviceId, results),
  }
}

function createQuestionInbox({ clock, db, log }: Foundation, reads: HeldReads): QuestionInbox {
  return new QuestionInbox({
    clock,
    listOpenQuestions: (deviceIds) => listOpenQuestions(db, clock.now(), deviceIds),
    onAsked: (deviceIds) => wakeAll(reads, deviceIds),
    logError: toLogError(log),
  })
}

function wakeAll(reads: HeldReads, deviceIds: readonly string[]): void {
  for (const deviceId of deviceIds) reads.wake(deviceId)
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
  { db, log }: Foundation,
  refusedTables: AgentsSettings['refusedTables'],
  reads: HeldReads,
): LiveQueryInbox {
  return new LiveQueryInbox({
    findOpenCampaign: (campaignId) => findOpenCampaign(db, campaignId, refusedTables),
    listOpenCampaignIds: () => listOpenCampaignIds(db),
    onOwed: (deviceIds) => wakeAll(reads, deviceIds),
    logError: toLogError(log),
  })
}
