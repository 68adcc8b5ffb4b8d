/** The `simulate` command: runs a fleet for a while and sums up what it did. */
import { readFile } from 'node:fs/promises'
import { createFleet } from '../fleet.ts'
import type { FleetOptions } from '../fleet-options.ts'
import type { Fleet } from '../fleet.ts'
import type { FleetStatistics } from '../fleet-statistics.ts'
import { createHostProfile } from '../host/host-profile.ts'
import { openNodeKeyFile } from '../node-key-file.ts'
import type { HostProfile } from '../host/host-profile.ts'

const PROGRESS_MS = 2_000
const HOST_REFRESH_MS = 5 * 60_000

export interface SimulateOptions {
  readonly url: string
  readonly secret: string
  readonly count: number
  /** Milliseconds until it ends; without it until the signal is aborted. */
  readonly durationMs?: number | undefined
  /** File with the PEM of the authority that signed the server's certificate. */
  readonly caFile?: string | undefined
  /** Adds the machine this runs on as a device. */
  readonly includesHost?: boolean
  /** File of the node keys that agents have from run to run; without it they begin without. */
  readonly nodeKeyFile?: string | undefined
  readonly fleet?: Partial<Omit<FleetOptions, 'baseUrl' | 'enrollSecret' | 'count' | 'ca' | 'host'>>
}

/** What the command may touch of its process. */
export interface SimulateIo {
  /** One line about how it goes; called every few seconds. */
  readonly progress: (line: string) => void
  /** Aborting it ends the simulation early. */
  readonly signal: AbortSignal
}

/** The result of a simulation, as it is printed for machines. */
export interface SimulateSummary {
  readonly url: string
  readonly durationMs: number
  readonly requestsPerSecond: number
  readonly statistics: FleetStatistics
}

function describeProgress(statistics: FleetStatistics, elapsedMs: number): string {
  const { counters } = statistics
  return [
    `${Math.round(elapsedMs / 1_000)} s`,
    `${statistics.enrolled}/${statistics.nodes} enrolled`,
    `${counters.requests} requests`,
    `${counters.failures} failed`,
    `${counters.resultsAcknowledged} results`,
    `${counters.linesAcknowledged} log lines`,
    `p99 ${statistics.latencyMs.p99} ms`,
  ].join('  ')
}

/** Waits until the time is up or the signal is aborted, calling `tick` in between. */
async function waitWhile(
  durationMs: number | undefined,
  signal: AbortSignal,
  tick: () => void,
): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    const interval = setInterval(tick, PROGRESS_MS)
    const end = (): void => {
      clearInterval(interval)
      clearTimeout(timeout)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timeout = durationMs === undefined ? undefined : setTimeout(end, durationMs)
    signal.addEventListener('abort', end)
  })
}

async function runFleet(
  fleet: Fleet,
  options: SimulateOptions,
  io: SimulateIo,
): Promise<SimulateSummary> {
  const startMs = performance.now()
  fleet.start()
  await waitWhile(options.durationMs, io.signal, () => {
    io.progress(describeProgress(fleet.statistics(), performance.now() - startMs))
  })
  const durationMs = Math.round(performance.now() - startMs)
  const statistics = fleet.statistics()
  const requestsPerSecond = Number(((statistics.counters.requests * 1_000) / durationMs).toFixed(1))
  return { url: options.url, durationMs, requestsPerSecond, statistics }
}

function refreshRegularly(host: HostProfile | undefined): () => void {
  if (host === undefined) return () => undefined
  const timer = setInterval(() => void host.refresh(), HOST_REFRESH_MS)
  return () => {
    clearInterval(timer)
    host.close()
  }
}

/**
 * Runs a fleet against a server and resolves to a summary when the time is up or the signal is
 * aborted. Rejects when the URL is not allowed or the certificate file cannot be read.
 */
export async function simulate(options: SimulateOptions, io: SimulateIo): Promise<SimulateSummary> {
  const ca = options.caFile === undefined ? undefined : await readFile(options.caFile, 'utf8')
  const host = options.includesHost === true ? await createHostProfile() : undefined
  const { nodeKeyFile } = options
  const nodeKeys = nodeKeyFile === undefined ? undefined : await openNodeKeyFile(nodeKeyFile)
  const fleet = createFleet({
    nodeKeys,
    ...options.fleet,
    baseUrl: options.url,
    enrollSecret: options.secret,
    count: options.count,
    ca,
    host,
  })
  const stopRefreshing = refreshRegularly(host)
  try {
    return await runFleet(fleet, options, io)
  } finally {
    await fleet.stop()
    await nodeKeys?.close()
    stopRefreshing()
  }
}
