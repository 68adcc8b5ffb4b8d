/*
 * How fast every list of the API answers: its first page, its last page, and every field that it can
 * be searched by, with every operator. Each request is made a few times to find the slowest of the
 * list, which is then requested at fixed times for as long as a phase lasts.
 */
import { runOpenLoop } from './open-loop.ts'
import { toListPath, type ListClient } from './list-client.ts'
import type { PublishedList } from './list-searches.ts'
import type { BenchRun, Measurement } from './scenario.ts'
import { median, summariseLatencies, type LatencySummary } from './statistics.ts'

const REQUESTS_PER_SECOND = 50
const REPEATS = 5
const PHASE_SHARE = 0.3
const P99_TARGET_MS = 50

/** Measures every list; one line for each. */
export async function measureEveryList(
  run: BenchRun,
  client: ListClient,
  lists: readonly PublishedList[],
): Promise<Measurement[]> {
  const measurements: Measurement[] = []
  for (const list of lists) {
    run.progress(`${list.path}, ${list.searches.length} searches`)
    measurements.push(await measureList(run, client, list))
  }
  return measurements
}

interface Request {
  /** What the report calls it. */
  readonly what: string
  readonly path: string
}

async function measureList(
  run: BenchRun,
  client: ListClient,
  list: PublishedList,
): Promise<Measurement> {
  const requests = await listRequests(client, list)
  const sweep = await requestInTurn(run, client, requests)
  const [slowest] = requests
    .map((request) => ({ request, p50: median(sweep.get(request) ?? []) }))
    .sort((a, b) => b.p50 - a.p50)
  if (slowest === undefined) throw new Error(`${list.path} has no page`)
  const phase = await requestAgain(run, client, slowest.request)
  return toMeasurement(list, slowest.request, phase, summariseLatencies([...sweep.values()].flat()))
}

async function listRequests(client: ListClient, { path, searches }: PublishedList) {
  const lastPage = await client.findLastPage(path)
  const requests: Request[] = [{ what: 'first page', path: toListPath(path) }]
  if (lastPage !== undefined) requests.push({ what: 'last page', path: lastPage })
  requests.push(...searches.map((query) => ({ what: query, path: toListPath(path, { query }) })))
  return requests
}

async function requestInTurn(
  run: BenchRun,
  client: ListClient,
  requests: readonly Request[],
): Promise<Map<Request, number[]>> {
  const latencies = new Map<Request, number[]>()
  const loop = await runOpenLoop({
    ratePerSecond: REQUESTS_PER_SECOND,
    seconds: (requests.length * REPEATS) / REQUESTS_PER_SECOND,
    signal: run.signal,
    send: async (index) => {
      const request = requests[index % requests.length]
      if (request === undefined) return
      const startMs = performance.now()
      await client.getPage(request.path)
      latencies.set(request, [...(latencies.get(request) ?? []), performance.now() - startMs])
    },
  })
  if (loop.failures > 0) throw new Error('A list refused a request', { cause: loop.firstFailure })
  return latencies
}

async function requestAgain(
  run: BenchRun,
  client: ListClient,
  { path }: Request,
): Promise<LatencySummary> {
  const { latenciesMs, failures, firstFailure } = await runOpenLoop({
    ratePerSecond: REQUESTS_PER_SECOND,
    seconds: Math.max(1, run.seconds * PHASE_SHARE),
    signal: run.signal,
    send: async () => void (await client.getPage(path)),
  })
  if (failures > 0) throw new Error(`${failures} requests failed`, { cause: firstFailure })
  return summariseLatencies(latenciesMs)
}

function toMeasurement(
  { name, searches }: PublishedList,
  { what }: Request,
  slowest: LatencySummary,
  sweep: LatencySummary,
): Measurement {
  return {
    what: `${name}, p99 of the slowest: ${what}`,
    target: `< ${P99_TARGET_MS} ms`,
    measured: { value: slowest.p99, unit: 'ms' },
    limit: undefined,
    ratio: undefined,
    isReached: slowest.p99 < P99_TARGET_MS,
    details: {
      requests: slowest.count,
      p50_ms: slowest.p50,
      max_ms: slowest.max,
      searches: searches.length,
      all_requests: sweep.count,
      all_p50_ms: sweep.p50,
      all_p99_ms: sweep.p99,
      all_max_ms: sweep.max,
    },
  }
}
