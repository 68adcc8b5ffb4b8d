/*
 * How fast a page of 100 devices comes: the first, the last, and filtered ones, requested at fixed
 * times. Beside it the same SQL alone and a bare server that answers as many bytes.
 */
import type { Kysely } from 'kysely'
import { Pool } from 'undici'
import { DEVICE_LIST } from '../src/posture/devices/device-read.ts'
import type { Schema } from '../src/schema/schema.ts'
import { parseSearch } from '../src/platform/search/parse-search.ts'
import { startChildProgram } from './child-program.ts'
import type { EchoAnswer } from './echo-program.ts'
import { PER_PAGE, toListPath, type ListClient } from './list-client.ts'
import { runOpenLoop } from './open-loop.ts'
import type { BenchRun, Measurement } from './scenario.ts'
import { summariseLatencies, type LatencySummary } from './statistics.ts'

const REQUESTS_PER_SECOND = 50
const CONNECTIONS = 8
const WARM_UP_SECONDS = 1
const PHASE_SHARE = 0.3
const SQL_REPEATS = 100
const P99_TARGET_MS = 50
const DAY_MS = 86_400_000

/** What is measured: a service with so many devices, the ids of which begin with 1. */
export interface DeviceListsOptions {
  readonly client: ListClient
  readonly db: Kysely<Schema>
  readonly devices: number
}

interface ListVariant {
  readonly what: string
  readonly query: string
  /** The page after this device; the first page when undefined. */
  readonly afterId: string | undefined
}

/** One line for each kind of page. Rejects when one of them is empty or refused. */
export async function measureDeviceLists(
  run: BenchRun,
  { client, db, devices }: DeviceListsOptions,
): Promise<Measurement[]> {
  const lastPage = await client.findLastPage('/devices')
  const measurements: Measurement[] = []
  for (const variant of listVariants(new Date(), devices)) {
    run.progress(`devices, ${variant.what}`)
    const { query } = variant
    const parameters = query === '' ? {} : { query }
    const isLast = variant.afterId !== undefined && lastPage !== undefined
    const path = isLast ? lastPage : toListPath('/devices', parameters)
    const { bytes, count } = await client.getPage(path)
    if (count === 0) throw new Error(`${path} found nothing`)
    const http = await measureRequests(run, () => client.getPage(path))
    const statement = await measureStatement(run, db, variant)
    const echo = await measureEcho(run, bytes)
    measurements.push(toMeasurement(variant, bytes, { http, statement, echo }))
  }
  return measurements
}

function listVariants(now: Date, devices: number): ListVariant[] {
  const [from, to] = [3, 5].map((days) => new Date(now.getTime() + days * DAY_MS).toISOString())
  const serial = `SN${String(Math.round(devices * 0.85)).padStart(8, '0')}`
  const filtered = (what: string, query: string) => ({ what, query, afterId: undefined })
  return [
    filtered('first page', ''),
    { what: 'last page', query: '', afterId: String(devices - PER_PAGE) },
    filtered('name contains a frequent word', 'name~"sparrow"'),
    filtered('name contains a rare text', 'name~"711"'),
    filtered('serial is', `serial:"${serial}"`),
    filtered('will_block_at within two days', `will_block_at>"${from}" AND will_block_at<"${to}"`),
    filtered('device_type is', 'device_type:"Linux"'),
  ]
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
  run: BenchRun,
  db: Kysely<Schema>,
  { query, afterId }: ListVariant,
): Promise<LatencySummary> {
  const search = parseSearch(query, DEVICE_LIST.fields)
  const latenciesMs: number[] = []
  for (let repeat = 0; repeat < SQL_REPEATS; repeat += 1) {
    run.signal.throwIfAborted()
    const startMs = performance.now()
    await DEVICE_LIST.listPage(db, { search, window: { afterId, limit: PER_PAGE + 1 } })
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
    what: `/devices, ${what}, p99`,
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
