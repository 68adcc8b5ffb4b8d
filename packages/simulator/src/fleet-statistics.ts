import { createLatencyHistogram } from './latency-histogram.ts'
import type { LatencyHistogram } from './latency-histogram.ts'
import { createCounters } from './osquery-client/node-counters.ts'
import type { NodeCounters } from './osquery-client/node-counters.ts'
import type { OsqueryNode } from './osquery-client/create-node.ts'
import type { RequestMeasurement } from './osquery-client/transport.ts'

/** What a fleet did so far, and proof that no log line went missing on its side. */
export interface FleetStatistics {
  readonly nodes: number
  readonly running: number
  /**
   * Devices with a node key, and with a request in this run that the service took: a key of an earlier run proves
   * nothing.
   */
  readonly enrolled: number
  readonly counters: NodeCounters
  readonly linesBuffered: number
  /** Logged lines that are neither acknowledged, purged, oversized nor buffered; 0 unless one got lost. */
  readonly linesUnaccounted: number
  readonly statuses: Readonly<Record<string, number>>
  readonly requestBytes: number
  readonly latencyMs: {
    readonly p50: number
    readonly p95: number
    readonly p99: number
    readonly max: number
  }
}

/** Collects the measurements of a fleet's transport. */
export interface RequestRecorder {
  record(measurement: RequestMeasurement): void
  summarise(nodes: readonly OsqueryNode[]): FleetStatistics
}

function addCounters(nodes: readonly OsqueryNode[]): NodeCounters {
  const total = createCounters()
  const names = Object.keys(total) as (keyof NodeCounters)[]
  for (const { counters } of nodes) {
    for (const name of names) total[name] += counters[name]
  }
  return total
}

function countBuffered(nodes: readonly OsqueryNode[]): number {
  return nodes.reduce(
    (sum, { state }) => sum + state.logLines.result.length + state.logLines.status.length,
    0,
  )
}

/** Makes an empty recorder. */
export function createRequestRecorder(): RequestRecorder {
  const statuses: Record<string, number> = {}
  const latency: LatencyHistogram = createLatencyHistogram()
  let requestBytes = 0
  return {
    record(measurement) {
      const status = measurement.status === 0 ? 'unreachable' : String(measurement.status)
      statuses[status] = (statuses[status] ?? 0) + 1
      requestBytes += measurement.requestBytes
      if (!measurement.mayBeHeld) latency.record(measurement.durationMs)
    },
    summarise(nodes) {
      const counters = addCounters(nodes)
      const linesBuffered = countBuffered(nodes)
      const { linesLogged, linesAcknowledged, linesPurged, linesOversized } = counters
      return {
        nodes: nodes.length,
        running: nodes.filter(({ isRunning }) => isRunning).length,
        enrolled: nodes.filter(
          ({ counters: own, state }) => state.nodeKey !== undefined && own.successes > 0,
        ).length,
        counters,
        linesBuffered,
        linesUnaccounted:
          linesLogged - linesAcknowledged - linesPurged - linesOversized - linesBuffered,
        statuses: { ...statuses },
        requestBytes,
        latencyMs: {
          p50: latency.quantileMs(0.5),
          p95: latency.quantileMs(0.95),
          p99: latency.quantileMs(0.99),
          max: latency.quantileMs(1),
        },
      }
    },
  }
}
