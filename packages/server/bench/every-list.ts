/*
 * How fast every list of the API answers: its first page, its last page, and every field that it can
 * be searched by, with every operator, in both orders. Each request is made a few times, one after the other, to find
 * the slowest of those that indexes answer and the slowest of the others, which are then requested at fixed times for
 * as long as a phase lasts.
 */
import { runOpenLoop } from './open-loop.ts'
import { toListPath, type ListClient } from './list-client.ts'
import { isIndexedSearch, type PublishedList } from './list-searches.ts'
import type { BenchRun, Measurement } from './scenario.ts'
import { median, summariseLatencies, type LatencySummary } from './statistics.ts'

const REPEATS = 3
const PHASE_SHARE = 0.3

/** A page, or a search by equality, a time or a part of three letters or more. */
const INDEXED = { what: 'slowest', ratePerSecond: 50, p99TargetMs: 50 }
/** Combined searches, shorter parts, and what devices report: read from the rows. */
const OTHER = { what: 'slowest other search', ratePerSecond: 4, p99TargetMs: 500 }

/** Measures every list; one line for each kind of its searches. */
export async function measureEveryList(
  run: BenchRun,
  client: ListClient,
  lists: readonly PublishedList[],
): Promise<Measurement[]> {
  const measurements: Measurement[] = []
  for (const list of lists) {
    run.progress(`${list.path}, ${list.searches.length} searches`)
    measurements.push(...(await measureList(run, client, list)))
  }
  return measurements
}

interface Request {
  /** What the report calls it. */
  readonly what: string
  readonly path: string
  readonly kind: typeof INDEXED
}

async function measureList(
  run: BenchRun,
  client: ListClient,
  list: PublishedList,
): Promise<Measurement[]> {
  const sweep = await requestInTurn(run, client, await listRequests(client, list))
  const measurements: Measurement[] = []
  for (const kind of [INDEXED, OTHER]) {
    const requests = [...sweep.keys()].filter((request) => request.kind === kind)
    const latenciesOf = (request: Request) => sweep.get(request) ?? []
    const [slowest] = requests
      .map((request) => ({ request, p50: median(latenciesOf(request)) }))
      .sort((a, b) => b.p50 - a.p50)
    if (slowest === undefined) continue
    const phase = await requestAgain(run, client, slowest.request)
    const all = summariseLatencies(requests.flatMap(latenciesOf))
    measurements.push(toMeasurement(list, slowest.request, phase, all))
  }
  return measurements
}

async function listRequests(client: ListClient, list: PublishedList) {
  const { name, path, searches, isOrdered } = list
  const lastPage = await client.findLastPage(path)
  const requests: Request[] = [{ what: 'first page', path: toListPath(path), kind: INDEXED }]
  if (lastPage !== undefined) requests.push({ what: 'last page', path: lastPage, kind: INDEXED })
  requests.push(
    ...searches.flatMap((query) => {
      const kind = isIndexedSearch(name, query) ? INDEXED : OTHER
      const inOrder = { what: query, path: toListPath(path, { query }), kind }
      if (!isOrdered) return [inOrder]
      const newest = toListPath(path, { query, order: 'desc' })
      return [inOrder, { what: `${query}, newest first`, path: newest, kind }]
    }),
  )
  return requests
}

async function requestInTurn(
  run: BenchRun,
  client: ListClient,
  requests: readonly Request[],
): Promise<Map<Request, number[]>> {
  const latencies = new Map<Request, number[]>(requests.map((request) => [request, []]))
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    for (const [request, known] of latencies) {
      run.signal.throwIfAborted()
      const startMs = performance.now()
      await client.getPage(request.path)
      known.push(performance.now() - startMs)
    }
  }
  return latencies
}

async function requestAgain(
  run: BenchRun,
  client: ListClient,
  { path, kind }: Request,
): Promise<LatencySummary> {
  const { latenciesMs, failures, firstFailure } = await runOpenLoop({
    ratePerSecond: kind.ratePerSecond,
    seconds: Math.max(1, run.seconds * PHASE_SHARE),
    signal: run.signal,
    send: async () => void (await client.getPage(path)),
  })
  if (failures > 0) throw new Error(`${failures} requests failed`, { cause: firstFailure })
  return summariseLatencies(latenciesMs)
}

function toMeasurement(
  { name }: PublishedList,
  { what, kind }: Request,
  slowest: LatencySummary,
  sweep: LatencySummary,
): Measurement {
  return {
    what: `${name}, p99 of the ${kind.what}: ${what}`,
    target: `< ${kind.p99TargetMs} ms`,
    measured: { value: slowest.p99, unit: 'ms' },
    limit: undefined,
    ratio: undefined,
    isReached: slowest.p99 < kind.p99TargetMs,
    details: {
      requests: slowest.count,
      p50_ms: slowest.p50,
      max_ms: slowest.max,
      all_requests: sweep.count,
      all_p50_ms: sweep.p50,
      all_p99_ms: sweep.p99,
      all_max_ms: sweep.max,
    },
  }
}
