/*
 * What a benchmark is: a scenario that runs real parts of the service, measures them and the limit of
 * the machine in the same run, and reports both. Nothing here is asserted: numbers are information.
 */
import type { CleanupStack } from '../src/platform/cleanup-stack.ts'

/** What a scenario may use while it runs. */
export interface BenchRun {
  /** How long one measured phase lasts. */
  readonly seconds: number
  /** The share of the full data that databases are filled with, 0 to 1; below 1 for small machines. */
  readonly scale: number
  /** Aborted when the operator wants to stop; long waits end by it. */
  readonly signal: AbortSignal
  /** Undoes what the scenario started, whatever way it ends. */
  readonly cleanup: CleanupStack
  /** Tells what is going on. */
  readonly progress: (text: string) => void
}

/** A number with its unit. */
export interface Quantity {
  readonly value: number
  readonly unit: string
}

/** One line of the report. */
export interface Measurement {
  readonly what: string
  readonly target: string
  readonly measured: Quantity
  /** What the machine could do at best, measured in the same run. */
  readonly limit: (Quantity & { readonly what: string }) | undefined
  /** Measured by limit, the median of the rounds; undefined where the target is no share of the limit. */
  readonly ratio: number | undefined
  readonly isReached: boolean
  /** Further numbers, for people who look closer. */
  readonly details: Readonly<Record<string, number>>
}

export interface Scenario {
  readonly title: string
  run(run: BenchRun): Promise<Measurement[]>
}
