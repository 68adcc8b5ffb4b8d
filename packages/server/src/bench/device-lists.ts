/*
 * How fast a page of 100 out of 50,000 devices comes: the first, the last, and filtered ones, from the
 * real service over HTTP with an API key, requested at fixed times. Beside it the same SQL alone and a
 * bare server that answers as many bytes.
 */
import { Pool } from 'undici'
import { SYSTEM_ACTOR } from '../audit/audit-entry.ts'
import { createAdmin } from '../admins/create-admin.ts'
import { createApiKey } from '../api-keys/create-api-key.ts'
import { DEVICE_SEARCH_FIELDS, listDevices } from '../devices/device-read.ts'
import { parseSearch } from '../platform/search/parse-search.ts'
import type { Services } from '../services.ts'
import { startChildProgram } from './child-program.ts'
import type { EchoAnswer } from './echo-program.ts'
import { insertFleet } from './fleet-store.ts'
import { runOpenLoop } from './open-loop.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { startServiceUnderTest, type ServiceUnderTest } from './service-under-test.ts'
import { summariseLatencies, type LatencySummary } from './statistics.ts'

const DEVICES_COUNT = 50_000
const PER_PAGE = 100
const REQUESTS_PER_SECOND = 50
const CONNECTIONS = 8
const WARM_UP_SECONDS = 1
const PHASE_SHARE = 0.3
const SQL_REPEATS = 100
const P99_TARGET_MS = 50
const DAY_MS = 86_400_000

export const deviceLists: Scenario = {
  name: 'lists',
  title: `GET /devices?per_page=${PER_PAGE} of ${DEVICES_COUNT} devices`,
  run: measure,
}

interface ListVariant {
  readonly what: string
  readonly query: string
  /** The page after this device; the first page when undefined. */
  readonly afterId: string | undefined
}

interface Bench {
  readonly run: BenchRun
  readonly service: ServiceUnderTest
  readonly pool: Pool
  readonly key: string
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  const bench = await start(run)
  run.progress('walking to the last page')
  const lastCursor = await findLastCursor(bench)
  const measurements: Measurement[] = []
  for (const variant of listVariants(new Date())) {
    run.progress(variant.what)
    const path = toPath(variant, lastCursor)
    const answerBytes = (await getPage(bench, path)).bytes
    const http = await measureRequests(run, () => getPage(bench, path))
    const statement = await measureStatement(bench, variant)
    const echo = await measureEcho(run, answerBytes)
    measurements.push(toMeasurement(variant, answerBytes, { http, statement, echo }))
  }
  return measurements
}

async function start(run: BenchRun): Promise<Bench> {
  run.progress(`filling a database with ${DEVICES_COUNT} devices`)
  let key = ''
  const service = await startServiceUnderTest(run, {
    environment: { HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '10000000' },
    prepare: async (services) => {
      await insertFleet(services.db, {
        devices: DEVICES_COUNT,
        people: 25_000,
        resultsPerDevice: 6,
        issues: 60_000,
        transitions: 0,
      })
      key = await createKey(services)
    },
  })
  const pool = new Pool(service.url, { connections: CONNECTIONS, keepAliveTimeout: 60_000 })
  run.cleanup.add(() => pool.destroy())
  return { run, service, pool, key }
}

async function createKey({ runChange, sealer }: Services): Promise<string> {
  const { key } = await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    const email = 'bench@example.com'
    await createAdmin(change, { email, firstName: 'Bench', lastName: 'Admin', access: 'full' })
    const newKey = { name: 'Bench', responsibleEmail: email, permissions: [], expiresAt: null }
    return createApiKey(change, sealer, newKey)
  })
  return key
}

function listVariants(now: Date): ListVariant[] {
  const [from, to] = [3, 5].map((days) => new Date(now.getTime() + days * DAY_MS).toISOString())
  const filtered = (what: string, query: string) => ({ what, query, afterId: undefined })
  return [
    filtered('first page', ''),
    { what: 'last page', query: '', afterId: String(DEVICES_COUNT - PER_PAGE) },
    filtered('name contains a frequent word', 'name~"sparrow"'),
    filtered('name contains a rare text', 'name~"4711"'),
    filtered('serial is', 'serial:"SN00042317"'),
    filtered('will_block_at within two days', `will_block_at>"${from}" AND will_block_at<"${to}"`),
    filtered('device_type is', 'device_type:"Linux"'),
  ]
}

function toPath({ query, afterId }: ListVariant, lastCursor: string): string {
  const parameters = new URLSearchParams({ per_page: String(PER_PAGE) })
  if (query !== '') parameters.set('query', query)
  if (afterId !== undefined) parameters.set('cursor', lastCursor)
  return `/devices?${parameters.toString()}`
}

interface ListAnswer {
  readonly bytes: number
  readonly nextCursor: string
  readonly count: number
}

async function getPage({ pool, key }: Bench, path: string): Promise<ListAnswer> {
  const { statusCode, body } = await pool.request({
    path,
    method: 'GET',
    headers: { authorization: `Bearer ${key}` },
  })
  const text = await body.text()
  if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}: ${text}`)
  const { pagination } = JSON.parse(text) as {
    pagination: { next_cursor: string; count: number }
  }
  if (pagination.count === 0) throw new Error(`${path} found nothing`)
  return {
    bytes: Buffer.byteLength(text),
    nextCursor: pagination.next_cursor,
    count: pagination.count,
  }
}

/** The cursor of the last page, as a client finds it: page by page. */
async function findLastCursor(bench: Bench): Promise<string> {
  let cursor = ''
  let seen = 0
  for (;;) {
    bench.run.signal.throwIfAborted()
    const parameters = new URLSearchParams({ per_page: String(PER_PAGE), cursor })
    const { nextCursor, count } = await getPage(bench, `/devices?${parameters.toString()}`)
    seen += count
    if (nextCursor === '') break
    cursor = nextCursor
  }
  if (seen !== DEVICES_COUNT) throw new Error(`the pages hold ${seen} devices`)
  return cursor
}

async function measureRequests(
  run: BenchRun,
  request: () => Promise<unknown>,
): Promise<LatencySummary> {
  const send = async () => void (await request())
  const loop = { ratePerSecond: REQUESTS_PER_SECOND, signal: run.signal, send }
  await runOpenLoop({ ...loop, seconds: WARM_UP_SECONDS })
  const seconds = Math.max(1, run.seconds * PHASE_SHARE)
  const { latenciesMs, failures, firstFailure } = await runOpenLoop({ ...loop, seconds })
  if (failures > 0) throw new Error(`${failures} requests failed`, { cause: firstFailure })
  return summariseLatencies(latenciesMs)
}

/** The statement of the list with its rows read, without HTTP, key, limits and JSON. */
async function measureStatement(
  { service, run }: Bench,
  { query, afterId }: ListVariant,
): Promise<LatencySummary> {
  const search = parseSearch(query, DEVICE_SEARCH_FIELDS)
  const latenciesMs: number[] = []
  for (let repeat = 0; repeat < SQL_REPEATS; repeat += 1) {
    run.signal.throwIfAborted()
    const startMs = performance.now()
    await listDevices(service.services.db, search, { afterId, limit: PER_PAGE + 1 })
    latenciesMs.push(performance.now() - startMs)
  }
  return summariseLatencies(latenciesMs)
}

async function measureEcho(run: BenchRun, bytes: number): Promise<LatencySummary> {
  const echo = startChildProgram<never, EchoAnswer>(run, 'echo-program', [String(bytes)])
  const { port } = await echo.next('listening')
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS })
  try {
    return await measureRequests(run, async () => {
      const { body } = await pool.request({ path: '/', method: 'GET' })
      JSON.parse(await body.text())
    })
  } finally {
    await pool.destroy()
    await echo.stop()
  }
}

interface Latencies {
  readonly http: LatencySummary
  readonly statement: LatencySummary
  readonly echo: LatencySummary
}

function toMeasurement(
  { what }: ListVariant,
  answerBytes: number,
  { http, statement, echo }: Latencies,
): Measurement {
  return {
    what: `${what}, p99`,
    target: `< ${P99_TARGET_MS} ms`,
    measured: { value: http.p99, unit: 'ms' },
    limit: { what: 'SQL alone', value: statement.p99, unit: 'ms' },
    ratio: undefined,
    isReached: http.p99 < P99_TARGET_MS,
    details: {
      requests: http.count,
      rate_per_s: REQUESTS_PER_SECOND,
      p50_ms: http.p50,
      max_ms: http.max,
      sql_alone_p50_ms: statement.p50,
      bare_echo_p50_ms: echo.p50,
      bare_echo_p99_ms: echo.p99,
      answer_bytes: answerBytes,
    },
  }
}
