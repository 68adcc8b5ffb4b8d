import { SECOND_MS } from '../../platform/clock.ts'
import { readStatus } from '../../app/status/read-status.ts'
import type { ServiceStatus } from '../../app/status/service-status.ts'
import { toTable } from '../command-io.ts'
import { databaseCommand } from '../command.ts'

/** `heliograph status`: exit code 1 when somebody should look at something. */
export const definition = databaseCommand({
  name: 'status',
  description: 'show the processes of the service, what waits, and how the database is replicated',
  run: ({ services }) => readStatus(services.db),
  json: toJson,
  text: (status) => [
    ...describeProcesses(toJson(status)),
    '',
    ...describeWaiting(toJson(status)),
    '',
    ...describeReplication(toJson(status)),
    '',
    ...(status.problems.length === 0 ? ['All is well.'] : status.problems),
  ],
  isFailed: ({ problems }) => problems.length > 0,
})

type StatusJson = ReturnType<typeof toJson>

function toJson({ processes, schemaVersion, queues, lag, replication, ...others }: ServiceStatus) {
  const { isPrimary, origin, standbys } = replication
  return {
    healthy: others.problems.length === 0,
    problems: others.problems,
    processes: processes.map((process) => ({
      id: process.id,
      roles: process.roles,
      version: process.version,
      schema_version: process.schemaVersion,
      host: process.host,
      started_at: process.startedAt,
      last_seen_at: process.seenAt,
      missing: process.isMissing,
      known_nodes: process.knownNodes,
    })),
    schema_version: schemaVersion,
    queues: queues.map((queue) => ({
      kind: queue.kind,
      queued: queue.queued,
      due: queue.due,
      in_flight: queue.inFlight,
      oldest_due_seconds: toSeconds(queue.oldestDueMs),
      dead: queue.dead,
    })),
    lag: {
      audit_entries_unchained: lag.unchainedEntryCount,
      oldest_unchained_seconds: toSeconds(lag.oldestUnchainedMs),
      sets_unnumbered: lag.unnumberedSetCount,
      oldest_due_status_seconds: toSeconds(lag.oldestDueStatusMs),
    },
    replication: {
      primary: isPrimary,
      timeline: origin?.timelineId ?? null,
      synchronous: origin?.isSynchronous ?? null,
      standbys: standbys.map(({ name, address, state, syncState, lagBytes, lagMs }) => ({
        name,
        address,
        state,
        sync_state: syncState,
        lag_bytes: lagBytes,
        lag_seconds: toSeconds(lagMs),
      })),
    },
    late_jobs: others.lateJobs.map(({ name, intervalMs, startedAt, error }) => ({
      name,
      interval_seconds: toSeconds(intervalMs),
      last_started_at: startedAt,
      last_error: error,
    })),
  }
}

function describeProcesses({ processes, schema_version: version }: StatusJson): string[] {
  return [
    `Schema version ${version}`,
    ...toTable(processes, {
      PROCESS: ({ id }) => String(id),
      ROLES: ({ roles }) => roles.join(', '),
      VERSION: (each) => `${each.version} (schema ${each.schema_version})`,
      HOST: ({ host }) => host,
      SINCE: ({ started_at: at }) => at.toISOString(),
      'LAST SEEN': (each) => each.last_seen_at.toISOString() + (each.missing ? ' missing' : ''),
      NODES: ({ known_nodes: count }) => toText(count),
    }),
  ]
}

function describeWaiting({ queues, lag }: StatusJson): string[] {
  return [
    ...toTable(queues, {
      QUEUE: ({ kind }) => kind,
      QUEUED: ({ queued }) => String(queued),
      DUE: ({ due }) => String(due),
      'IN FLIGHT': ({ in_flight: count }) => String(count),
      'OLDEST DUE': (each) => toText(each.oldest_due_seconds, ' s'),
      DEAD: ({ dead }) => String(dead),
    }),
    '',
    `Audit entries without a place in the chain: ${lag.audit_entries_unchained}, oldest ${toText(lag.oldest_unchained_seconds, ' s')}`,
    `SETs without a number: ${lag.sets_unnumbered}`,
    `Oldest status that is due: ${toText(lag.oldest_due_status_seconds, ' s')}`,
  ]
}

function describeReplication({ replication }: StatusJson): string[] {
  const { primary, timeline, synchronous, standbys } = replication
  const kind = synchronous === true ? 'commits wait for a standby' : 'commits wait for no standby'
  return [
    `Database: ${primary ? 'primary' : 'standby'}, timeline ${timeline ?? 'not told'}, ${kind}`,
    ...(standbys.length === 0
      ? []
      : toTable(standbys, {
          STANDBY: ({ name }) => name ?? '-',
          ADDRESS: ({ address }) => address ?? '-',
          STATE: ({ state }) => state ?? '-',
          SYNC: (each) => each.sync_state ?? '-',
          BEHIND: (each) => toText(each.lag_bytes, ' bytes'),
          LAG: (each) => toText(each.lag_seconds, ' s'),
        })),
  ]
}

function toText(value: number | null, unit = ''): string {
  return value === null ? '-' : `${value}${unit}`
}

function toSeconds(ms: number): number
function toSeconds(ms: number | null): number | null
function toSeconds(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms) / SECOND_MS
}
