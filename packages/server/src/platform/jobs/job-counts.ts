import type { MetricSource } from '../http/metrics-server.ts'
import type { Job } from './job.ts'

interface Count {
  runs: number
  failures: number
  lastSeconds: number
}

/** What the jobs of this process have done since it started. */
export interface JobCounts {
  readonly metrics: readonly MetricSource[]
  /** The job with every run of it counted. */
  readonly counted: (job: Job) => Job
}

export function createJobCounts(): JobCounts {
  const counts = new Map<string, Count>()

  function counting<Result>(name: string, run: () => Promise<Result>): () => Promise<Result> {
    const count: Count = { runs: 0, failures: 0, lastSeconds: 0 }
    counts.set(name, count)
    return async () => {
      const before = performance.now()
      count.runs += 1
      try {
        return await run()
      } catch (error) {
        count.failures += 1
        throw error
      } finally {
        count.lastSeconds = (performance.now() - before) / 1000
      }
    }
  }

  const toMetric = (
    rest: Pick<MetricSource, 'name' | 'help' | 'kind'>,
    toFigure: (count: Count) => number,
  ): MetricSource => ({
    ...rest,
    label: 'job',
    read: async () => new Map([...counts].map(([name, count]) => [name, toFigure(count)])),
  })
  return {
    // One kind of job at a time, so that the type of its run stays.
    counted: (job) =>
      job.kind === 'due'
        ? { ...job, run: counting(job.name, job.run) }
        : { ...job, run: counting(job.name, job.run) },
    metrics: [
      toMetric(
        { name: 'heliograph_job_runs_total', help: 'Runs of jobs that began', kind: 'counter' },
        ({ runs }) => runs,
      ),
      toMetric(
        {
          name: 'heliograph_job_failures_total',
          help: 'Runs of jobs that failed',
          kind: 'counter',
        },
        ({ failures }) => failures,
      ),
      toMetric(
        {
          name: 'heliograph_job_last_duration_seconds',
          help: 'How long the last run of a job took',
        },
        ({ lastSeconds }) => lastSeconds,
      ),
    ],
  }
}
