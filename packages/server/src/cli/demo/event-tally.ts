/*
 * What the receivers of the demo have seen: counts and latencies. Holds a bounded number, however
 * long the demo runs.
 */
import { METHODS, type Method, type VerifiedEvent } from './verified-event.ts'

/** Latencies of one method in whole milliseconds; undefined before the first. */
export interface LatencySummary {
  readonly p50Ms: number | undefined
  readonly p99Ms: number | undefined
}

/** What has been received so far. */
export interface TallySummary {
  readonly verified: Readonly<Record<Method, number>>
  readonly latency: Readonly<Record<Method, LatencySummary>>
  /** Tokens whose signature was wrong or made with an unknown key. */
  readonly badSignatures: number
  /** Tokens that were refused for another reason. */
  readonly otherRefusals: number
}

const LATENCIES_KEPT = 5_000

/** Counts what the receivers report. */
export class EventTally {
  readonly #verified: Record<Method, number> = { push: 0, poll: 0 }
  readonly #latencies: Record<Method, number[]> = { push: [], poll: [] }
  #badSignatures = 0
  #otherRefusals = 0

  addVerified(event: VerifiedEvent): void {
    this.#verified[event.method] += 1
    if (event.latencyMs === undefined) return
    const latencies = this.#latencies[event.method]
    latencies.push(event.latencyMs)
    if (latencies.length > LATENCIES_KEPT) latencies.shift()
  }

  /** @param err the error code of RFC 8935 section 2.4 that the transmitter was told */
  addRefused(err: string): void {
    if (err === 'authentication_failed' || err === 'invalid_key') this.#badSignatures += 1
    else this.#otherRefusals += 1
  }

  /** Whether each method has brought at least one verified event. */
  get isComplete(): boolean {
    return METHODS.every((method) => this.#verified[method] > 0)
  }

  summarise(): TallySummary {
    return {
      verified: { ...this.#verified },
      latency: {
        push: summariseLatency(this.#latencies.push),
        poll: summariseLatency(this.#latencies.poll),
      },
      badSignatures: this.#badSignatures,
      otherRefusals: this.#otherRefusals,
    }
  }
}

function summariseLatency(latencies: readonly number[]): LatencySummary {
  const sorted = latencies.toSorted((left, right) => left - right)
  return { p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) }
}

/** The smallest value that the share of all values does not exceed (nearest rank). */
function quantile(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
}
