import { setTimeout as sleep } from 'node:timers/promises'

export interface OpenLoopOptions {
  readonly ratePerSecond: number
  readonly seconds: number
  readonly signal: AbortSignal
  /** Sends one request; rejects when it failed. Called without waiting for earlier ones. */
  readonly send: (index: number) => Promise<void>
}

export interface OpenLoopResult {
  /** From when each request was due to when it was answered, in milliseconds. */
  readonly latenciesMs: readonly number[]
  readonly failures: number
  readonly firstFailure: unknown
  /** The rate that was really kept. */
  readonly ratePerSecond: number
}

const TICK_MS = 1

/**
 * Sends requests at fixed times, however slow the answers are, and counts their latency from the time
 * they were due: a server that stalls is charged for everything that queues behind the stall.
 */
export async function runOpenLoop(options: OpenLoopOptions): Promise<OpenLoopResult> {
  const { ratePerSecond, seconds, signal, send } = options
  const total = Math.round(ratePerSecond * seconds)
  const latenciesMs: number[] = []
  const failures: unknown[] = []
  const pending: Promise<void>[] = []
  const startMs = performance.now()
  for (let index = 0; index < total;) {
    signal.throwIfAborted()
    const dueMs = startMs + (index / ratePerSecond) * 1000
    if (performance.now() < dueMs) {
      await sleep(TICK_MS)
      continue
    }
    pending.push(
      send(index).then(
        () => void latenciesMs.push(performance.now() - dueMs),
        (error: unknown) => void failures.push(error),
      ),
    )
    index += 1
  }
  const elapsedSeconds = (performance.now() - startMs) / 1000
  await Promise.all(pending)
  return {
    latenciesMs,
    failures: failures.length,
    firstFailure: failures[0],
    ratePerSecond: total / elapsedSeconds,
  }
}
