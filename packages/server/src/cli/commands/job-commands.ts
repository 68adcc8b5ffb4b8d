import { SECOND_MS } from '../../platform/clock.ts'
import type { PeriodicJob } from '../../platform/jobs/job.ts'
import { listJobRuns, type JobRun } from '../../platform/jobs/job-run-store.ts'
import { DUE_JOBS, DUE_ROLES, PERIODIC_JOBS } from '../../schema/jobs.ts'
import type { ProcessRole } from '../../schema/process-role.ts'
import { toTable } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'

interface JobView {
  readonly name: string
  readonly roles: readonly ProcessRole[]
  readonly scope: PeriodicJob['scope']
  /** Null for a job that runs when something is due. */
  readonly intervalMs: number | null
  /** Of jobs that one process does for all. */
  readonly lastRun: JobRun | undefined
}

const list = databaseCommand({
  name: 'list',
  description: 'list the background jobs, with the last run of those that one process does for all',
  async run({ services }) {
    const runs = new Map((await listJobRuns(services.db)).map((run) => [run.name, run]))
    const due = { scope: 'installation', roles: DUE_ROLES, intervalMs: null } as const
    const jobs = [
      ...Object.entries(PERIODIC_JOBS).map(([name, facts]) => ({ name, ...facts })),
      ...DUE_JOBS.map((name) => ({ name, ...due })),
    ]
    return jobs
      .map((job): JobView => ({ ...job, lastRun: runs.get(job.name) }))
      .sort((one, other) => one.name.localeCompare(other.name))
  },
  json: (views) => views.map(toJson),
  text: (views) =>
    toTable(views.map(toJson), {
      NAME: ({ name }) => name,
      ROLES: ({ roles }) => roles.join(', '),
      RUNS: ({ scope, interval_seconds: seconds }) =>
        seconds === null ? 'when due' : `every ${seconds} s${scope === 'process' ? ' each' : ''}`,
      'LAST RUN': (each) => each.last_started_at?.toISOString() ?? '-',
      TOOK: ({ last_duration_ms: ms }) => (ms === null ? '-' : `${ms} ms`),
      ERROR: (each) => each.last_error ?? '-',
    }),
})

function toJson({ name, roles, scope, intervalMs, lastRun }: JobView) {
  const { startedAt, finishedAt, error } = lastRun ?? {}
  return {
    name,
    roles,
    scope,
    interval_seconds: intervalMs === null ? null : intervalMs / SECOND_MS,
    last_started_at: startedAt ?? null,
    last_duration_ms: startedAt && finishedAt ? finishedAt.getTime() - startedAt.getTime() : null,
    last_error: error ?? null,
  }
}

/** `heliograph jobs list`. */
export const definition = commandGroup([list])
