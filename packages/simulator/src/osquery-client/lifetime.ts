import type { CancelTask, Scheduler } from '../scheduler.ts'

/**
 * One run of the agent process, from start to stop or crash. What belongs to it ends with it: its
 * sleeps wake up with `false`, its tasks are taken back.
 */
export interface Lifetime {
  isOver(): boolean
  /** Resolves to true after `ms`, or to false as soon as the run is over. */
  sleep(ms: number): Promise<boolean>
  /** Runs a task after `ms` unless the run is over by then. */
  later(ms: number, task: () => void): CancelTask
  end(): void
}

/** Starts a run whose waits are kept by `scheduler`. */
export function createLifetime(scheduler: Scheduler): Lifetime {
  const endings = new Set<() => void>()
  let isOver = false

  function later(ms: number, task: () => void, onEnd?: () => void): CancelTask {
    if (isOver) {
      onEnd?.()
      return () => undefined
    }
    const cancelTask = scheduler.schedule(ms, () => {
      endings.delete(ending)
      task()
    })
    const ending = (): void => {
      cancelTask()
      onEnd?.()
    }
    endings.add(ending)
    return () => {
      endings.delete(ending)
      cancelTask()
    }
  }

  return {
    isOver: () => isOver,
    sleep: (ms) =>
      new Promise((resolve) => {
        later(
          ms,
          () => resolve(true),
          () => resolve(false),
        )
      }),
    later: (ms, task) => later(ms, task),
    end() {
      isOver = true
      for (const ending of [...endings]) ending()
      endings.clear()
    },
  }
}
