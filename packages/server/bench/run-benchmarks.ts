/*
 * How the benchmarks run one after another. Each scenario owns what it starts and what it measures. Not part of
 * the service: nothing here runs when it serves.
 */
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { CleanupStack } from '../src/platform/cleanup-stack.ts'
import type { Measurement, Scenario } from './scenario.ts'
import { SCENARIOS, type ScenarioName } from './scenarios.ts'
import { readMachineCpu, shareOfOthers } from './process-cpu.ts'

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
  readonly scenario: ScenarioName
  readonly title: string
  readonly seconds: number
  /** How much of the machine other programs used meanwhile, 0 to 1; absent where nobody knows. */
  readonly othersShare: number | undefined
  readonly measurements: readonly Measurement[]
}

export interface RunBenchmarksOptions {
  readonly scenarios: readonly ScenarioName[]
  readonly seconds: number
  readonly scale: number
  readonly signal: AbortSignal
  readonly progress: (text: string) => void
  /** Called after each scenario, so that a broken one does not take the others' numbers along. */
  readonly report: (report: ScenarioReport) => void
}

/** Runs the scenarios one after another; each cleans up before the next. Rejects when one cannot run. */
export async function runBenchmarks(options: RunBenchmarksOptions): Promise<void> {
  for (const name of options.scenarios) {
    options.signal.throwIfAborted()
    options.report(await runScenario(name, options))
  }
}

async function runScenario(
  name: ScenarioName,
  { seconds, scale, signal, progress }: RunBenchmarksOptions,
): Promise<ScenarioReport> {
  const scenario: Scenario = await SCENARIOS[name]()
  const cleanup = new CleanupStack()
  const startMs = performance.now()
  const cpuBefore = await readMachineCpu()
  try {
    const measurements = await scenario.run({
      seconds,
      scale,
      signal,
      cleanup,
      progress: (text) => progress(`${name}: ${text}`),
    })
    const elapsedMs = performance.now() - startMs
    const cpuAfter = await readMachineCpu()
    return {
      scenario: name,
      title: scenario.title,
      seconds: Math.round(elapsedMs / 1000),
      othersShare: shareOfOthers(cpuBefore, cpuAfter, elapsedMs, availableParallelism()),
      measurements,
    }
  } finally {
    await cleanup.run()
  }
}
