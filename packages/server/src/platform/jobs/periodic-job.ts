/** Work that is done again and again in the background. */
export interface PeriodicJob {
  /** Waits for the run under way; no run begins afterwards. */
  stop(): Promise<void>
}

export interface PeriodicJobOptions {
  readonly name: string
  readonly intervalMs: number
  readonly run: () => Promise<unknown>
  /** A failed run is told and tried again after the interval. */
  readonly logError: (error: unknown, message: string) => void
}

/** Runs `run` every `intervalMs`, counted from the end of one run to the beginning of the next. */
export function startPeriodicJob(options: PeriodicJobOptions): PeriodicJob {
  let isStopped = false
  let running: Promise<void> = Promise.resolve()
  let timer = setTimeout(runOnce, options.intervalMs)
  timer.unref()

  function runOnce(): void {
    running = attempt(options).then(() => {
      if (isStopped) return
      timer = setTimeout(runOnce, options.intervalMs)
      timer.unref()
    })
  }

  return {
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

async function attempt({ name, run, logError }: PeriodicJobOptions): Promise<void> {
  try {
    await run()
  } catch (error) {
    logError(error, `the job "${name}" failed and will be tried again`)
  }
}
