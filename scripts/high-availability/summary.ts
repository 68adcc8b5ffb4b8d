import type { UsedCores } from './machine-use.ts'

/** A fault, and for how long what was felt. */
export interface Round {
  readonly fault: string
  /** After how long requests were served within three seconds again; 0 when they always were. */
  readonly outageMs: number
  /** For how long requests were held up once more after that, as when the lost server comes back. */
  readonly laterMs: number
  /** After how long every device had an answer accepted that it sent after the fault. */
  readonly answersMs: number
  /** The longest time without an accepted answer of any device since the fault. */
  readonly silenceMs: number
  /** Requests for work whose connection was lost. */
  readonly lostWorkCount: number
  /** What went on before the fault, when everything was well. */
  readonly before: LoadTimes
}

/** How the load was carried for a while. */
export interface LoadTimes {
  readonly acknowledgedPerSecond: number
  readonly latencyMs: Quantiles
  /** Cores that each part used. */
  readonly cores: UsedCores
}

interface Quantiles {
  readonly p50: number
  readonly p95: number
  readonly max: number
}

/** How long it took, over all rounds and for each kind of fault, in milliseconds. */
export function summarise(rounds: readonly Round[]) {
  const byFault = Object.groupBy(rounds, ({ fault }) => fault)
  return {
    rounds: rounds.length,
    all: describe(rounds),
    lost_work: rounds.reduce((sum, { lostWorkCount }) => sum + lostWorkCount, 0),
    load_before_faults: {
      acknowledged_per_second: quantiles(rounds.map(({ before }) => before.acknowledgedPerSecond)),
      latency_p50_ms: quantiles(rounds.map(({ before }) => before.latencyMs.p50)),
      latency_p95_ms: quantiles(rounds.map(({ before }) => before.latencyMs.p95)),
      cores_mean: meanOf(rounds.map(({ before }) => before.cores)),
    },
    by_fault: Object.fromEntries(
      Object.entries(byFault).map(([fault, own = []]) => [fault, describe(own)]),
    ),
    list: rounds,
  }
}

function describe(rounds: readonly Round[]) {
  return {
    rounds: rounds.length,
    outage_ms: quantiles(rounds.map(({ outageMs }) => outageMs)),
    later_ms: quantiles(rounds.map(({ laterMs }) => laterMs)),
    silence_ms: quantiles(rounds.map(({ silenceMs }) => silenceMs)),
    answers_ms: quantiles(rounds.map(({ answersMs }) => answersMs)),
  }
}

function meanOf(uses: readonly UsedCores[]): UsedCores {
  const names = Object.keys(uses[0] ?? {})
  const sumOf = (name: string) => uses.reduce((sum, use) => sum + (use[name] ?? 0), 0)
  return Object.fromEntries(
    names.map((name) => [name, Math.round((100 * sumOf(name)) / uses.length) / 100]),
  )
}

/** The median, the 95th percentile and the largest. */
export function quantiles(values: readonly number[]): Quantiles {
  const sorted = [...values].sort((one, other) => one - other)
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
  return { p50: at(0.5), p95: at(0.95), max: at(1) }
}
