import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
} from 'kysely'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import type { DeliveryOutcome } from './delivery-outcome.ts'
import { OutcomeRecorder } from './outcome-recorder.ts'

const STATEMENT_MS = 2

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A recorder whose database takes its time, how many outcomes its statements wrote, and what watchers were told. */
function begin() {
  const counts: number[] = []
  const told: string[] = []
  let isBroken = false
  const connection: DatabaseConnection = {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      if (isBroken) throw new Error('the database is away')
      if (!sql.includes('json_to_recordset')) return { rows: [] }
      counts.push((JSON.parse(String(parameters[0])) as unknown[]).length)
      await new Promise((resolve) => setTimeout(resolve, STATEMENT_MS))
      return { rows: [] }
    },
    streamQuery: () => {
      throw new Error('nothing is streamed')
    },
  }
  const driver = new DummyDriver()
  driver.acquireConnection = () => Promise.resolve(connection)
  const db = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: (of) => new PostgresIntrospector(of),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  const recorder = new OutcomeRecorder({
    db,
    log: SILENT_LOGGER,
    random: () => 0,
    runChange: () => Promise.reject(new Error('nothing is changed')),
    topics: { tell: (topics) => void told.push(...topics) },
  })
  return { counts, told, recorder, breakDatabase: () => (isBroken = true) }
}

function toOutcome(id: number): DeliveryOutcome {
  const at = new Date(0)
  return {
    delivery: {
      id: String(id),
      destinationId: '1' as DestinationId,
      claimId: 'claim',
      leaseEndsMs: Infinity,
      eventId: String(id),
      eventType: 'test',
      subjectKey: null,
      body: '{}',
      signingKid: null,
      token: null,
      attemptCount: 0,
      wasAccepted: false,
      createdAt: at,
    },
    verdict: { kind: 'accepted' },
    state: 'delivered',
    retryDelayMs: null,
    pauseMs: 0,
    startedAt: at,
    finishedAt: at,
    timings: { total: 1 },
    statusCode: 202,
    notice: null,
    requestHeaders: null,
    responseHeaders: null,
    responseBody: null,
    remoteAddress: null,
    token: null,
  }
}

test('outcomes that never stop coming share statements, each of which costs far more than an outcome', async () => {
  const { counts, recorder } = begin()
  let recordedCount = 0
  for (let id = 1; id <= 100; id += 1) {
    recorder.record(toOutcome(id), () => (recordedCount += 1))
    await vi.advanceTimersByTimeAsync(1)
  }
  await vi.advanceTimersByTimeAsync(100)
  expect(recordedCount).toBe(100)
  expect(Math.min(...counts.slice(0, -1))).toBeGreaterThanOrEqual(4)
})

test('an end waits for no others: everything is written at once', async () => {
  const { counts, recorder } = begin()
  recorder.record(toOutcome(1), () => undefined)
  const closing = recorder.close()
  recorder.record(toOutcome(2), () => undefined)
  await vi.advanceTimersByTimeAsync(2 * STATEMENT_MS)
  await closing
  expect(counts).toEqual([1, 1])
})

test('watchers are told of what is recorded, and not of what is given up at the close', async () => {
  const { told, recorder, breakDatabase } = begin()
  recorder.record(toOutcome(1), () => undefined)
  await vi.advanceTimersByTimeAsync(100)
  expect(told).toEqual(['deliveries:1'])
  breakDatabase()
  let isEnded = false
  recorder.record(toOutcome(2), () => (isEnded = true))
  await recorder.close()
  expect(isEnded).toBe(true)
  expect(told).toEqual(['deliveries:1'])
})
