/** A fault, and for how long what was felt. */
export interface Round {
  readonly fault: string
  /** After how long requests were served within three seconds again; 0 when they always were. */
  readonly outageMs: number
  /** For how long requests were held up once more after that, as when the lost server comes back. */
  readonly laterMs: number
  /** After how long every device had an answer accepted that it sent after the fault. */
  readonly answersMs: number
}

/** How long it took, over all rounds and for each kind of fault, in milliseconds. */
export function summarise(rounds: readonly Round[]) {
  const byFault = Object.groupBy(rounds, ({ fault }) => fault)
  return {
    rounds: rounds.length,
    all: describe(rounds),
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
    answers_ms: quantiles(rounds.map(({ answersMs }) => answersMs)),
  }
}

function quantiles(values: readonly number[]) {
  const sorted = [...values].sort((one, other) => one - other)
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
  return { p50: at(0.5), p95: at(0.95), max: at(1) }
}
