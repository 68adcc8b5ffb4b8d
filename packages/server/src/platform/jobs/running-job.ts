/** Background work of this process that has begun. */
export interface RunningJob {
  /** Waits for the run under way; no run begins afterwards. */
  stop(): Promise<void>
}

/** Told of a failed run; the run is tried again. */
export type LogJobError = (error: unknown, message: string) => void

/** What is told of a failed run. */
export function describeFailedRun(name: string): string {
  return `the job "${name}" failed and will be tried again`
}
