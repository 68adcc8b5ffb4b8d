import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Change, RunChange } from '../../changes/change.ts'
import type { Clock } from '../../platform/clock.ts'
import type { NoteReportProblems } from '../../posture/devices/report-problem.ts'
import type { LiveReport } from '../../posture/live-queries/record-live-answers.ts'
import type { ScheduledQuery } from '../../posture/osquery/agent-config.ts'
import type { DistributedResult } from '../../posture/osquery/agent-message.ts'
import type { AgentSettings } from '../../posture/osquery/agent-settings.ts'
import type { ContactRecorder } from '../../posture/osquery/contact-recorder.ts'
import type { DeviceQueue } from '../../posture/osquery/device-queue.ts'
import type { LiveQueries } from '../../posture/osquery/hand-out-work.ts'
import type { HeldReads } from '../../posture/osquery/held-reads.ts'
import type { HurriedDevices } from '../../posture/osquery/hurried-devices.ts'
import type { NodeCache } from '../../posture/osquery/node-cache.ts'
import type { Schema } from '../../schema/schema.ts'
import type { LogReading, ReportedSnapshot } from './collect-log.ts'

/** What the intake needs of the rest of the service. */
export interface AgentDependencies {
  readonly db: Kysely<Schema>
  readonly runChange: RunChange
  readonly clock: Clock
  readonly settings: AgentSettings
  readonly nodes: NodeCache
  readonly contacts: ContactRecorder
  /** The requests for work that wait for some. */
  readonly reads: Pick<HeldReads, 'begin'>
  readonly hurried: Pick<HurriedDevices, 'isHurried'>
  /** The order in which what devices send is written. */
  readonly writes: DeviceQueue
  readonly reporting: AgentReporting
  readonly liveQueries: LiveQueries & { readonly recordResults: RecordLiveReports }
  /** Questions to single devices that somebody waits for. */
  readonly questions: LiveQueries & { readonly recordResults: RecordQuestionResults }
  /** Tells admins what of a device's messages could not be taken. */
  readonly noteProblems: NoteReportProblems
}

/** The tables that devices report by schedule. */
export interface AgentReporting extends LogReading {
  /** What every device reports, by query name. */
  readonly schedule: () => Readonly<Record<string, ScheduledQuery>>
  /** Records what a device reported; repeated and late snapshots must be harmless. */
  readonly recordSnapshots: (
    change: Change,
    deviceId: string,
    snapshots: readonly ReportedSnapshot[],
  ) => Promise<void>
}

/** Takes the answers of devices to live queries, in the change that records those to checks and after them. */
type RecordLiveReports = (change: Change, reports: readonly LiveReport[]) => Promise<void>

/** Takes the answers of a device to questions, in the same change. */
type RecordQuestionResults = (
  change: Change,
  deviceId: string,
  results: readonly DistributedResult[],
) => Promise<void>

/** Answers one request of an agent with the text of its body. */
export type AgentHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<string>
