/*
 * The benchmarks: which there are, and how they run one after another. Each scenario owns what it
 * starts and what it measures. Not part of the service: nothing here runs when it serves.
 */
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { CleanupStack } from '../src/platform/cleanup-stack.ts'
import { backlog } from './backlog.ts'
import { checkRounds } from './check-rounds.ts'
import { consoleInBrowser } from './console.ts'
import { enrollments } from './enrollments.ts'
import { idleCheckIns } from './idle-check-ins.ts'
import { held } from './held.ts'
import { isolation, webhookIsolation } from './isolation.ts'
import { lists } from './lists.ts'
import { liveAnswers } from './live-answers.ts'
import { longPoll } from './long-poll.ts'
import { processes } from './processes.ts'
import { reportingLogs } from './reporting-logs.ts'
import { reads } from './reads.ts'
import { retention } from './retention.ts'
import type { Measurement, Scenario } from './scenario.ts'
import { readMachineCpu, shareOfOthers } from './process-cpu.ts'
import { scale } from './scale.ts'
import { start } from './start.ts'
import { signalLatency } from './signal-latency.ts'
import { signIns } from './sign-ins.ts'
import { signedDelivery } from './signed-delivery.ts'
import { singleAnswers } from './single-answers.ts'
import { webhookDelivery } from './webhook-delivery.ts'

/** All scenarios in the order in which they run. */
export const SCENARIOS: readonly Scenario[] = [
  signedDelivery,
  webhookDelivery,
  signalLatency,
  isolation,
  webhookIsolation,
  longPoll,
  idleCheckIns,
  held,
  signIns,
  checkRounds,
  singleAnswers,
  liveAnswers,
  enrollments,
  reportingLogs,
  start,
  reads,
  processes,
  backlog,
  lists,
  scale,
  retention,
  consoleInBrowser,
]

/** The machine that the numbers belong to. */
export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memory_gib: number
  readonly node: string
  readonly platform: string
  /** Of the last minute before the run: above 0.2 or so, other programs take part. */
  readonly load_average: number
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memory_gib: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    load_average: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  }
}

export interface ScenarioReport {
  readonly scenario: string
  readonly title: string
  readonly seconds: number
  /** How much of the machine other programs used meanwhile, 0 to 1; absent where nobody knows. */
  readonly othersShare: number | undefined
  readonly measurements: readonly Measurement[]
}

export interface RunBenchmarksOptions {
  readonly scenarios: readonly Scenario[]
  readonly seconds: number
  readonly scale: number
  readonly signal: AbortSignal
  readonly progress: (text: string) => void
  /** Called after each scenario, so that a broken one does not take the others' numbers along. */
  readonly report: (report: ScenarioReport) => void
}

/** Runs the scenarios one after another; each cleans up before the next. Rejects when one cannot run. */
export async function runBenchmarks(options: RunBenchmarksOptions): Promise<void> {
  for (const scenario of options.scenarios) {
    options.signal.throwIfAborted()
    options.report(await runScenario(scenario, options))
  }
}

async function runScenario(
  scenario: Scenario,
  { seconds, scale, signal, progress }: RunBenchmarksOptions,
): Promise<ScenarioReport> {
  const cleanup = new CleanupStack()
  const startMs = performance.now()
  const cpuBefore = await readMachineCpu()
  try {
    const measurements = await scenario.run({
      seconds,
      scale,
      signal,
      cleanup,
      progress: (text) => progress(`${scenario.name}: ${text}`),
    })
    const elapsedMs = performance.now() - startMs
    const cpuAfter = await readMachineCpu()
    return {
      scenario: scenario.name,
      title: scenario.title,
      seconds: Math.round(elapsedMs / 1000),
      othersShare: shareOfOthers(cpuBefore, cpuAfter, elapsedMs, availableParallelism()),
      measurements,
    }
  } finally {
    await cleanup.run()
  }
}
