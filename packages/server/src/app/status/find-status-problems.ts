import { MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import { PROCESS_ROLES } from '../../schema/process-role.ts'
import type { ServiceStatus } from './service-status.ts'

/** Longer than anything waits in a service that keeps up. */
const DUE_MS_MAX = 5 * MINUTE_MS
const UNCHAINED_MS_MAX = MINUTE_MS
const STATUS_MS_MAX = 2 * MINUTE_MS

/** What of the status somebody should look at, a sentence for each. */
export function findStatusProblems(
  status: Omit<ServiceStatus, 'problems'> & { readonly writeProblem: string | undefined },
): string[] {
  return [
    ...(status.writeProblem === undefined ? [] : [status.writeProblem]),
    ...findProcessProblems(status),
    ...findWaitingProblems(status),
    ...findReplicationProblems(status),
    ...status.lateJobs.map(({ name, error }) =>
      error === null ? `The job "${name}" is late.` : `The job "${name}" failed: ${error}`,
    ),
  ]
}

function findProcessProblems({
  processes,
  schemaVersion,
}: Pick<ServiceStatus, 'processes' | 'schemaVersion'>): string[] {
  const present = processes.filter(({ isMissing }) => !isMissing)
  const played = new Set(present.flatMap(({ roles }) => roles))
  const unplayed = PROCESS_ROLES.filter((role) => !played.has(role))
  return [
    ...(present.length === 0
      ? ['No process of the service runs.']
      : unplayed.map((role) => `No process has the role ${role}.`)),
    ...processes
      .filter(({ isMissing }) => isMissing)
      .map(
        ({ id, host, silentMs }) =>
          `Process ${id} on ${host} is missing for ${toSeconds(silentMs)}.`,
      ),
    ...present
      .filter((process) => process.schemaVersion !== schemaVersion)
      .map(
        ({ id, host, schemaVersion: known }) =>
          `Process ${id} on ${host} is of schema version ${known}, the database of ${schemaVersion}: finish the upgrade.`,
      ),
  ]
}

function findWaitingProblems({ queues, lag }: Pick<ServiceStatus, 'queues' | 'lag'>): string[] {
  const { oldestUnchainedMs, oldestDueStatusMs } = lag
  return [
    ...queues
      .filter(({ oldestDueMs }) => (oldestDueMs ?? 0) > DUE_MS_MAX)
      .map(
        ({ kind, due, oldestDueMs }) =>
          `${due} deliveries of ${kind} are due, the oldest for ${toSeconds(oldestDueMs ?? 0)}.`,
      ),
    ...((oldestUnchainedMs ?? 0) > UNCHAINED_MS_MAX
      ? [`Entries of the audit log wait for their place for ${toSeconds(oldestUnchainedMs ?? 0)}.`]
      : []),
    ...((oldestDueStatusMs ?? 0) > STATUS_MS_MAX
      ? [`Statuses of devices are due for ${toSeconds(oldestDueStatusMs ?? 0)}.`]
      : []),
  ]
}

function findReplicationProblems({
  replication: { isPrimary, origin, standbys },
}: Pick<ServiceStatus, 'replication'>): string[] {
  if (!isPrimary) return ['The database is a standby: nothing can be stored.']
  if (origin === undefined || origin.isSynchronous || standbys.length === 0) return []
  return [
    'Standbys follow the database asynchronously: a failover loses what was committed last. Name one in synchronous_standby_names.',
  ]
}

function toSeconds(ms: number): string {
  return `${Math.round(ms / SECOND_MS)} s`
}
