import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Change, RunChange } from '../../changes/change.ts'
import type { Clock } from '../../platform/clock.ts'
import type { ScheduledQuery } from '../../posture/osquery/agent-config.ts'
import type { DistributedResult } from '../../posture/osquery/agent-message.ts'
import type { AgentSettings } from '../../posture/osquery/agent-settings.ts'
import type { ContactRecorder } from '../../posture/osquery/contact-recorder.ts'
import type { LiveQueries } from '../../posture/osquery/hand-out-work.ts'
import type { NodeCache } from '../../posture/osquery/node-cache.ts'
import type { Schema } from '../../schema/schema.ts'
import type { ReportedSnapshot } from './parse-agent-message.ts'

/** What the intake needs of the rest of the service. */
export interface AgentDependencies {
  readonly db: Kysely<Schema>
  readonly runChange: RunChange
  readonly clock: Clock
  readonly settings: AgentSettings
  readonly nodes: NodeCache
  readonly contacts: ContactRecorder
  /** What every device reports by schedule, by query name. */
  readonly reportingSchedule: () => Readonly<Record<string, ScheduledQuery>>
  /** With what the names of reporting queries begin; the rest is the table. */
  readonly reportingPrefix: string
  /** Records what a device reported; repeated and late snapshots must be harmless. */
  readonly recordReportingSnapshots: (
    change: Change,
    deviceId: string,
    snapshots: readonly ReportedSnapshot[],
  ) => Promise<void>
  readonly liveQueries: LiveQueries & { readonly recordResults: RecordLiveResults }
}

/** Takes the answers to live queries, in the change that records those to checks and after them. */
type RecordLiveResults = (
  change: Change,
  deviceId: string,
  results: readonly DistributedResult[],
) => Promise<void>

/** Answers one request of an agent with the text of its body. */
export type AgentHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<string>
