/*
 * How the whole service is doing, over all its processes: read once, from the database alone, so that it can be asked
 * beside a service that runs and without one. Judges by bounds that a service which is well keeps.
 */
import type { Kysely } from 'kysely'
import { countUnchainedEntries } from '../../changes/audit/chain/chain-store.ts'
import { MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import {
  findDatabaseFault,
  READ_ONLY,
  type DatabaseFault,
} from '../../platform/db/database-fault.ts'
import { isReadOnly, tryWriting } from '../../platform/db/write-check.ts'
import { listJobRuns, type JobRun } from '../../platform/jobs/job-run-store.ts'
import { PERIODIC_JOBS } from '../../schema/jobs.ts'
import type { Schema } from '../../schema/schema.ts'
import { findOrigin, listStandbys } from '../backup/database-origin-store.ts'
import { PRESENCE_INTERVAL_MS } from '../presence/presence-part.ts'
import { listProcesses } from '../presence/process-store.ts'
import { findStatusProblems } from './find-status-problems.ts'
import type { LateJob, ProcessStatus, ServiceStatus } from './service-status.ts'
import {
  countUnnumberedSets,
  findOldestDueStatusMs,
  hasServiceThatWrites,
  isPrimary,
  isReadOnlyByRole,
  readQueues,
  readSchemaVersion,
} from './status-read.ts'

/** Two times that were missed, and some seconds for a process that is busy. */
const MISSING_MS = 2 * PRESENCE_INTERVAL_MS + 15 * SECOND_MS
const COUNTED_ENTRIES_MAX = 100_000
/** A worker that has just started runs what is due within this time. */
const LATE_MS = 2 * MINUTE_MS

/** Reads how the service is doing, and what of it somebody should look at. */
export async function readStatus(db: Kysely<Schema>): Promise<ServiceStatus> {
  const { version: schemaVersion, now } = await readSchemaVersion(db)
  const processes = (await listProcesses(db)).map((process) => ({
    ...process,
    isMissing: process.silentMs > MISSING_MS,
  }))
  const unchained = await countUnchainedEntries(db, COUNTED_ENTRIES_MAX)
  const isWritable = await isPrimary(db)
  const status = {
    processes,
    schemaVersion,
    queues: await readQueues(db),
    lag: {
      unchainedEntryCount: unchained.entryCount,
      oldestUnchainedMs:
        unchained.oldestRecordedAt && now.getTime() - unchained.oldestRecordedAt.getTime(),
      unnumberedSetCount: await countUnnumberedSets(db),
      oldestDueStatusMs: await findOldestDueStatusMs(db),
    },
    replication: {
      isPrimary: isWritable,
      origin: isWritable ? await findOrigin(db) : undefined,
      standbys: await listStandbys(db),
    },
    lateJobs: findLateJobs(await listJobRuns(db), processes, now),
  }
  const writeProblem = isWritable ? await findWriteProblem(db) : undefined
  return { ...status, problems: findStatusProblems({ ...status, writeProblem }) }
}

/** Nothing is wrong where a process is connected by a role that writes. */
const ROLE_ONLY_READS =
  'The role of this command only reads (default_transaction_read_only), and no process of the service is connected by another one that writes. Where the service has the same role it cannot store anything; else see whether it runs.'

/** What a process of the service says of its readiness; a command finds out by itself. */
async function findWriteProblem(db: Kysely<Schema>): Promise<string | undefined> {
  const fault = await findWriteFault(db)
  if (fault === undefined) return undefined
  if (fault.kind === 'read_only' && (await isReadOnlyByRole(db))) {
    return (await hasServiceThatWrites(db)) ? undefined : ROLE_ONLY_READS
  }
  return `${fault.message} ${fault.advice}`
}

async function findWriteFault(db: Kysely<Schema>): Promise<DatabaseFault | undefined> {
  try {
    await tryWriting(db)
  } catch (error) {
    const fault = findDatabaseFault(error)
    if (fault === undefined) throw error
    return fault
  }
  return (await isReadOnly(db)) ? READ_ONLY : undefined
}

/** Jobs wait for a worker: without one only that is worth telling. */
function findLateJobs(
  runs: readonly JobRun[],
  processes: readonly ProcessStatus[],
  now: Date,
): LateJob[] {
  const workers = processes.filter(({ isMissing, roles }) => !isMissing && roles.includes('worker'))
  if (workers.length === 0) return []
  const workedMs = Math.max(...workers.map(({ startedAt }) => now.getTime() - startedAt.getTime()))
  const known = new Map(runs.map((run) => [run.name, run]))
  return Object.entries(PERIODIC_JOBS).flatMap(([name, { scope, intervalMs }]) => {
    if (scope === 'process') return []
    const run = known.get(name)
    const error = run?.error ?? null
    const lastAt = run && (run.finishedAt ?? run.startedAt)
    const silentMs = lastAt === undefined ? workedMs : now.getTime() - lastAt.getTime()
    const isLate = Math.min(silentMs, workedMs) > 2 * intervalMs + LATE_MS
    if (!isLate && error === null) return []
    return [{ name, intervalMs, startedAt: run?.startedAt ?? null, error }]
  })
}
