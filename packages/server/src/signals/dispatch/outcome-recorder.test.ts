import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createAnsweredDatabase } from '../../../test/support/answered-database.ts'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
import type { Change, RunChange } from '../../changes/change.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { DeliveryOutcome } from './delivery-outcome.ts'
import { OutcomeRecorder } from './outcome-recorder.ts'
import type { OutcomeEnd } from './outcomes-aside.ts'

const STATEMENT_MS = 2

/** An outcome of which something can be recorded. */
function whenRecorded(onRecorded: () => void): OutcomeEnd {
  return { onRecorded, onGivenUp: () => Promise.reject(new Error('it was given up')) }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A recorder whose database takes its time, how many outcomes its statements wrote, and what watchers were told. */
function begin(runChange: RunChange = () => Promise.reject(new Error('nothing is changed'))) {
  const locked: unknown[] = []
  const counts: number[] = []
  const told: string[] = []
  let isBroken = false
  let refusal: Refusal = () => undefined
  const db = createAnsweredDatabase(async ({ sql, parameters }) => {
    if (isBroken) throw withCode('ECONNREFUSED')
    const code = await refusal(JSON.stringify(parameters), sql)
    if (code !== undefined) throw withCode(code)
    if (sql.includes('for no key update')) locked.push(parameters[0])
    if (!sql.includes('delivery_attempt_id_seq')) return
    counts.push(parameters.find((value) => Array.isArray(value))?.length ?? 0)
    await new Promise((resolve) => setTimeout(resolve, STATEMENT_MS))
  })
  const recorder = new OutcomeRecorder({
    db,
    log: SILENT_LOGGER,
    random: () => 0,
    runChange,
    topics: { tell: (topics) => void told.push(...topics) },
  })
  return {
    db,
    locked,
    counts,
    told,
    recorder,
    breakDatabase: () => (isBroken = true),
    refuse: (next: Refusal) => (refusal = next),
  }
}

/** By which code a statement is refused, if it is. */
type Refusal = (
  parameters: string,
  statement: string,
) => string | undefined | Promise<string | undefined>

/** How long a statement that records outcomes waits for a lock. */
function lockMsOf(parameters: string): string {
  const [lockMs] = JSON.parse(parameters) as string[]
  return lockMs ?? ''
}

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code })
}

function toOutcome(id: number, destinationId = '1'): DeliveryOutcome {
  const at = new Date(0)
  return {
    delivery: {
      id: String(id),
      destinationId: destinationId as DestinationId,
      claimId: 'claim',
      leaseEndsMs: Infinity,
      eventId: String(id),
      eventType: 'test',
      subjectKey: 'subject',
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
    recorder.record(
      toOutcome(id),
      whenRecorded(() => (recordedCount += 1)),
    )
    await vi.advanceTimersByTimeAsync(1)
  }
  await vi.advanceTimersByTimeAsync(100)
  expect(recordedCount).toBe(100)
  expect(counts.length).toBeLessThanOrEqual(6)
})

test('an end waits for no others: everything is written at once', async () => {
  const { counts, recorder } = begin()
  recorder.record(
    toOutcome(1),
    whenRecorded(() => undefined),
  )
  const closing = recorder.close()
  recorder.record(
    toOutcome(2),
    whenRecorded(() => undefined),
  )
  await vi.advanceTimersByTimeAsync(2 * STATEMENT_MS)
  await closing
  expect(counts).toEqual([1, 1])
})

test('watchers are told of what is recorded, and not of what is given up at the close', async () => {
  const { told, recorder, breakDatabase } = begin()
  recorder.record(
    toOutcome(1),
    whenRecorded(() => undefined),
  )
  await vi.advanceTimersByTimeAsync(100)
  expect(told).toEqual(['deliveries:1'])
  breakDatabase()
  let isEnded = false
  recorder.record(
    toOutcome(2),
    whenRecorded(() => (isEnded = true)),
  )
  await recorder.close()
  expect(isEnded).toBe(true)
  expect(told).toEqual(['deliveries:1'])
})

test('what outcomes touch of several destinations is locked in the order of their ids', async () => {
  const { locked, recorder } = begin()
  for (const [index, id] of ['30', '4', '100'].entries()) {
    recorder.record(
      toOutcome(index, id),
      whenRecorded(() => undefined),
    )
  }
  await vi.advanceTimersByTimeAsync(100)
  expect(locked).toEqual(['4', '30', '100'])
})

test('what owns several destinations is locked in the order of their ids, before their deliveries', async () => {
  const owners: string[] = []
  const countsThen: number[] = []
  const { db, counts, recorder } = begin((_origin, work) => work({ tx: db } as Change))
  for (const [index, id] of ['30', '4', '100'].entries()) {
    const lockOwner = () => {
      owners.push(id)
      countsThen.push(counts.length)
      return Promise.resolve()
    }
    const notice = { kind: 'gone', lockOwner, notify: () => Promise.resolve() } as const
    recorder.record(
      { ...toOutcome(index, id), notice },
      whenRecorded(() => undefined),
    )
  }
  await vi.advanceTimersByTimeAsync(100)
  expect(owners).toEqual(['4', '30', '100'])
  expect(countsThen).toEqual([0, 0, 0])
})

const POISON = 'poison'
const UNTRANSLATABLE = '22P05'

/** Records outcomes of which the one in the middle says something else; answers in which order they ended. */
function recordPoisoned(
  recorder: OutcomeRecorder,
  count: number,
  pausesMs = new Map<number, number>(),
): number[] {
  const ended: number[] = []
  for (let id = 1; id <= count; id += 1) {
    const responseBody = id === Math.ceil(count / 2) ? POISON : null
    const onRecorded = () => void ended.push(id)
    const onGivenUp = (pauseMs: number) => {
      pausesMs.set(id, pauseMs)
      ended.push(id)
      return Promise.resolve()
    }
    recorder.record({ ...toOutcome(id), responseBody }, { onRecorded, onGivenUp })
  }
  return ended
}

const inOrder = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

test('an outcome that the database refuses for what it says is recorded without that, and holds up no other', async () => {
  const { counts, told, recorder, refuse } = begin()
  refuse((parameters) => (parameters.includes(POISON) ? UNTRANSLATABLE : undefined))
  const ended = recordPoisoned(recorder, 100)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(ended).toEqual(inOrder(100))
  expect(told).toEqual(inOrder(100).map((id) => `deliveries:${id}`))
  expect(counts.reduce((sum, count) => sum + count)).toBe(100)
  expect(counts.length).toBeLessThan(10)
})

test('an outcome that fails again and again, nobody knows why, holds up the others for a while and then none', async () => {
  const { counts, recorder, refuse } = begin()
  refuse((parameters) => (parameters.includes(POISON) ? 'XX001' : undefined))
  const ended = recordPoisoned(recorder, 4)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(ended).toEqual([])
  await vi.advanceTimersByTimeAsync(10_000)
  expect(ended).toEqual(inOrder(4))
  expect(counts.reduce((sum, count) => sum + count)).toBe(4)
})

test('an outcome whose consequences the database refuses is recorded without them, with all that it says', async () => {
  const { counts, recorder, refuse } = begin(() => Promise.reject(withCode('23505')))
  const written: string[] = []
  refuse((parameters) => void written.push(parameters))
  const notice = {
    kind: 'gone',
    lockOwner: () => Promise.resolve(),
    notify: () => Promise.resolve(),
  } as const
  let isRecorded = false
  const verdict = { kind: 'gone', errorCode: 'gone', error: 'HTTP 410' } as const
  const outcome = { ...toOutcome(1), verdict, state: 'dead', responseBody: 'bye', notice } as const
  recorder.record(
    outcome,
    whenRecorded(() => (isRecorded = true)),
  )
  await vi.advanceTimersByTimeAsync(100)
  expect(isRecorded).toBe(true)
  expect(counts).toHaveLength(1)
  expect(written.join()).toContain('bye')
  expect(written.join()).toContain('HTTP 410')
})

test.each([
  { isCounted: true, noted: ['"attempt_count"', 'follower'] },
  { isCounted: false, noted: ['follower'] },
])(
  'an outcome of which the database takes nothing is given up alone, its attempt counts as far as that is taken ($isCounted), and what follows is put off',
  async ({ isCounted, noted }) => {
    const { counts, told, recorder, refuse } = begin()
    const statements: string[] = []
    refuse((parameters, statement) => {
      if (!parameters.includes('"50"')) return undefined
      const isCount = statement.startsWith('update "delivery"')
      if (statement.includes('delivery_attempt_id_seq') || (isCount && !isCounted)) return '23514'
      statements.push(statement)
      return undefined
    })
    const pausesMs = new Map<number, number>()
    const ended = recordPoisoned(recorder, 100, pausesMs)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(ended).toEqual(inOrder(100))
    expect(told).not.toContain('deliveries:50')
    expect(counts.reduce((sum, count) => sum + count)).toBe(99)
    expect(pausesMs).toEqual(new Map([[50, 120_000]]))
    expect(statements).toHaveLength(noted.length)
    for (const [index, text] of noted.entries()) expect(statements[index]).toContain(text)
  },
)

test('a delivery whose outcome is given up again and again rests longer each time, as after a failure', async () => {
  const { recorder, refuse } = begin()
  refuse((_, statement) => (statement.includes('delivery_attempt_id_seq') ? '23514' : undefined))
  const pausesMs: number[] = []
  for (const attemptCount of [0, 3, 4, 8, 100]) {
    const outcome = toOutcome(1)
    const onGivenUp = (pauseMs: number) => Promise.resolve(void pausesMs.push(pauseMs))
    recorder.record(
      { ...outcome, delivery: { ...outcome.delivery, attemptCount } },
      { ...whenRecorded(() => undefined), onGivenUp },
    )
    await vi.advanceTimersByTimeAsync(1_000)
  }
  const minutes = pausesMs.map((pauseMs) => pauseMs / 60_000)
  expect(minutes).toEqual([2, 24, 96, 960, 960])
})

test('an end waits until what is given up is given back', async () => {
  const { recorder, refuse } = begin()
  refuse((_, statement) => (statement.includes('delivery_attempt_id_seq') ? '23514' : undefined))
  const givingBack = Promise.withResolvers<void>()
  recorder.record(toOutcome(1), {
    ...whenRecorded(() => undefined),
    onGivenUp: () => givingBack.promise,
  })
  let isClosed = false
  const closing = recorder.close().then(() => (isClosed = true))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(isClosed).toBe(false)
  givingBack.resolve()
  await closing
})

test.each(['ECONNREFUSED', '57P01', '25006', '42703', '58P01', 'XX000', ''])(
  'what fails with %s is repeated as a whole and as it is, for it says nothing of an outcome',
  async (code) => {
    const { counts, recorder, refuse } = begin()
    const tried: string[] = []
    refuse((parameters) => {
      tried.push(parameters)
      return tried.length > 3 ? undefined : code
    })
    const ended = recordPoisoned(recorder, 100)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(ended).toEqual(inOrder(100))
    expect(counts).toEqual([100])
    expect(new Set(tried.slice(0, 4)).size).toBe(1)
    expect(tried[0]).toContain(POISON)
  },
)

test('a fault that nobody knows after the database was away puts nothing aside', async () => {
  const { counts, recorder, refuse } = begin()
  let tries = 0
  refuse(() => {
    tries += 1
    if (tries > 12) return undefined
    return tries > 10 ? 'XX000' : 'ECONNREFUSED'
  })
  for (const id of [1, 2]) {
    recorder.record(
      toOutcome(id, String(id)),
      whenRecorded(() => undefined),
    )
  }
  await vi.advanceTimersByTimeAsync(5_000)
  expect(counts).toEqual([2])
})

test.each(['40P01', '57014'])(
  'a conflict that comes again (%s) loses nothing of what an outcome says',
  async (code) => {
    const { counts, recorder, refuse } = begin()
    let conflicts = 0
    refuse((parameters) => {
      if (!parameters.includes(POISON) || conflicts >= 12) return undefined
      conflicts += 1
      return code
    })
    const ended = recordPoisoned(recorder, 100)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(conflicts).toBe(12)
    expect(ended).toEqual(inOrder(100))
    expect(counts.reduce((sum, count) => sum + count)).toBe(100)
  },
)

test('what somebody has locked holds up its destination alone, whose outcomes keep their order', async () => {
  const { counts, recorder, refuse } = begin()
  const LOCKED = '2'
  let isLocked = true
  const lockWaits: string[] = []
  refuse((parameters, statement) => {
    if (statement.includes('lock_timeout')) lockWaits.push(lockMsOf(parameters))
    return isLocked && parameters.includes('"5"') ? '55P03' : undefined
  })
  const ended: number[] = []
  const record = (from: number, to: number) => {
    for (let id = from; id <= to; id += 1) {
      const destinationId = id % 3 === 2 ? LOCKED : '1'
      recorder.record(
        toOutcome(id, destinationId),
        whenRecorded(() => void ended.push(id)),
      )
    }
  }
  record(1, 9)
  await vi.advanceTimersByTimeAsync(100)
  expect(ended.toSorted()).toEqual([1, 2, 3, 4, 6, 7, 9])
  counts.length = 0
  record(10, 15)
  await vi.advanceTimersByTimeAsync(100)
  expect(ended.slice(7)).toEqual([10, 12, 13, 15])
  expect(counts).toEqual([4])
  isLocked = false
  await vi.advanceTimersByTimeAsync(1_000)
  expect(ended.slice(11)).toEqual([5, 8, 11, 14])
  expect(new Set(lockWaits)).toEqual(new Set(['2000', '500', '10']))
})

test('what follows a retry in its transaction is bounded as well, without a statement more', async () => {
  const { recorder, refuse } = begin()
  const bounding: string[] = []
  refuse((parameters, statement) => {
    if (statement.includes("'statement_timeout'")) bounding.push(statement, parameters)
    return undefined
  })
  const retried = { state: 'queued', retryDelayMs: 1_000 } as const
  recorder.record(
    { ...toOutcome(1), ...retried },
    whenRecorded(() => undefined),
  )
  await vi.advanceTimersByTimeAsync(100)
  expect(bounding).toHaveLength(2)
  expect(bounding[0]).toContain('update delivery')
  expect(JSON.parse(bounding[1] ?? '')).toEqual(expect.arrayContaining(['2000', '20000']))
})

test('an end that begins while outcomes wait for a lock has its time for those that nobody has locked', async () => {
  const { recorder, refuse, counts } = begin()
  refuse(async (parameters, statement) => {
    if (!parameters.includes('"5"')) return undefined
    const lockMs = statement.includes('lock_timeout') ? Number(lockMsOf(parameters)) : 20_000
    await new Promise((resolve) => setTimeout(resolve, lockMs))
    return '55P03'
  })
  const ended: number[] = []
  for (let id = 1; id <= 100; id += 1) {
    recorder.record(
      toOutcome(id, String(id % 3)),
      whenRecorded(() => void ended.push(id)),
    )
  }
  await vi.advanceTimersByTimeAsync(100)
  const closing = recorder.close()
  await vi.advanceTimersByTimeAsync(5_000)
  await closing
  expect(counts.reduce((sum, count) => sum + count)).toBe(99)
  expect(ended).toHaveLength(100)
})

test('an end also comes while the database refuses outcomes, whatever of them it refuses', async () => {
  const { recorder, refuse } = begin()
  refuse(() => UNTRANSLATABLE)
  const ended = recordPoisoned(recorder, 20)
  await recorder.close()
  expect(ended).toEqual(inOrder(20))
})
