import { createParts } from '../../app/parts.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import type { Job } from '../../platform/jobs/job.ts'
import { listJobRuns, type JobRun } from '../../platform/jobs/job-run-store.ts'
import { toTable } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'

interface JobView {
  readonly job: Job
  /** Of jobs that one process does for all. */
  readonly lastRun: JobRun | undefined
}

const list = databaseCommand({
  name: 'list',
  description: 'list the background jobs, with the last run of those that one process does for all',
  async run({ services }) {
    const { jobs } = await createParts(services)
    const runs = new Map((await listJobRuns(services.db)).map((run) => [run.name, run]))
    return jobs
      .map((job): JobView => ({ job, lastRun: runs.get(job.name) }))
      .sort((one, other) => one.job.name.localeCompare(other.job.name))
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

function toJson({ job, lastRun }: JobView) {
  const { startedAt, finishedAt, error } = lastRun ?? {}
  return {
    name: job.name,
    roles: job.roles,
    scope: job.kind === 'due' ? 'installation' : job.scope,
    interval_seconds: job.kind === 'due' ? null : job.intervalMs / SECOND_MS,
    last_started_at: startedAt ?? null,
    last_duration_ms: startedAt && finishedAt ? finishedAt.getTime() - startedAt.getTime() : null,
    last_error: error ?? null,
  }
}

/** `heliograph jobs list`. */
export const jobCommands = commandGroup([list])
