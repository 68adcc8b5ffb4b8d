import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { readFromReplica, ReplicaRouter } from './read-replica.ts'

interface State {
  isStandby: boolean
  hasReplayed: boolean
  hasFlushed: boolean
  timelineId: string | null
}

const OWN = { database: 'heliograph', systemIdentifier: '7', notedAt: '2026-01-02 03:04:05+00' }
/** As long as it is between two looks at a standby. */
const LOOK_MS = 5
/** A standby that was of no use is left alone for a second. */
const REST_MS = 1_000
/** For one that says nothing. */
const ANSWER_MAX_MS = 1_000
// By this clock a standby is waited for and left alone, however long a busy machine takes.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
})
afterEach(() => void vi.useRealTimers())

const rest = () => void vi.advanceTimersByTime(REST_MS)
const asksWho = (text: string) => text.includes('current_database')

const CURRENT: State = { isStandby: true, hasReplayed: true, hasFlushed: true, timelineId: '3' }
const BEHIND: State = { ...CURRENT, hasReplayed: false, hasFlushed: false }

/** A router over a primary at position 0/5 of timeline 3, and a standby that says these states one after another. */
function open(states: readonly (State | Error | 'silent')[], identity: object = OWN) {
  const asked: unknown[] = []
  let looks = 0
  const answerState = () => {
    vi.advanceTimersByTime(LOOK_MS)
    const state = states[Math.min(looks++, states.length - 1)]
    if (state instanceof Error) return Promise.reject(state)
    if (state !== 'silent') return Promise.resolve({ rows: [state] })
    setImmediate(() => vi.advanceTimersByTime(ANSWER_MAX_MS))
    return new Promise(() => undefined)
  }
  const release = vi.fn()
  const replicaClient = {
    query: vi.fn((text: string, values: unknown) => {
      if (asksWho(text)) return Promise.resolve({ rows: [identity] })
      asked.push(values)
      return answerState()
    }),
    release,
  } as unknown as PoolClient
  const position = { lsn: '0/5', flushedLsn: '0/4', timelineId: '3' }
  const askPrimary = vi.fn(() => Promise.resolve({ rows: [position] }))
  const askWho = vi.fn(() => Promise.resolve({ rows: [OWN as object] }))
  const flushPrimary = vi.fn(() => Promise.resolve({ rows: [{}] }))
  const primaryClient = {
    query: (text: string) => {
      if (text.includes('pg_logical_emit_message')) return flushPrimary()
      return asksWho(text) ? askWho() : askPrimary()
    },
    release: vi.fn(),
  } as unknown as PoolClient
  const logProblem = vi.fn()
  const replica = { connect: vi.fn(() => Promise.resolve(replicaClient)), end: vi.fn() }
  const router = new ReplicaRouter(
    { connect: () => Promise.resolve(primaryClient) },
    { replica, logProblem },
  )
  const read = () => readFromReplica(() => router.connect())
  return {
    askPrimary,
    asked,
    askWho,
    flushPrimary,
    logProblem,
    primaryClient,
    read,
    release,
    replica,
    replicaClient,
    router,
  }
}

it('reads that nobody declared to be such go to the primary, and ask for nothing', async () => {
  const { askPrimary, primaryClient, replica, router } = open([CURRENT])
  expect(await router.connect()).toBe(primaryClient)
  expect(replica.connect).not.toHaveBeenCalled()
  expect(askPrimary).not.toHaveBeenCalled()
})

it('a standby that has replayed what the primary had when the read began answers it', async () => {
  const { asked, read, replicaClient, router } = open([CURRENT])
  expect(await read()).toBe(replicaClient)
  expect(asked).toEqual([['0/5', '0/4']])
  expect(router.counts).toEqual({ replica: 1, primary: 0 })
})

it('the primary is asked once for all statements of one read', async () => {
  const { askPrimary, replicaClient, router } = open([CURRENT])
  await readFromReplica(async () => {
    expect(await router.connect()).toBe(replicaClient)
    expect(await router.connect()).toBe(replicaClient)
  })
  expect(askPrimary).toHaveBeenCalledOnce()
})

it('a standby that is a few milliseconds behind is waited for', async () => {
  const { flushPrimary, read, replicaClient } = open([BEHIND, BEHIND, BEHIND, CURRENT])
  expect(await read()).toBe(replicaClient)
  expect(flushPrimary).not.toHaveBeenCalled()
})

it('a standby that lacks what the primary has not on its disk is given that, once for all who wait', async () => {
  const states = [{ ...CURRENT, hasReplayed: false }]
  const { flushPrimary, logProblem, read, replicaClient } = open(states)
  flushPrimary.mockImplementation(async () => {
    await sleep(10)
    states[0] = CURRENT
    return { rows: [{}] }
  })
  expect(await Promise.all([read(), read()])).toEqual([replicaClient, replicaClient])
  expect(flushPrimary).toHaveBeenCalledOnce()
  expect(logProblem).not.toHaveBeenCalled()
})

it('is not led to the primary with its connection broken where that takes no commit', async () => {
  const { flushPrimary, logProblem, primaryClient, read } = open([
    { ...CURRENT, hasReplayed: false },
  ])
  flushPrimary.mockRejectedValue(new Error('cannot execute in a read-only transaction'))
  expect(await read()).toBe(primaryClient)
  expect(logProblem).toHaveBeenCalledExactlyOnceWith('it is behind')
})

it('tells once that the role may not have the rest sent to a standby, asks no more, and uses the standby when it has everything', async () => {
  const states = [{ ...CURRENT, hasReplayed: false }]
  const { flushPrimary, logProblem, primaryClient, read, replicaClient } = open(states)
  flushPrimary.mockRejectedValue(Object.assign(new Error('permission denied'), { code: '42501' }))
  for (const state of [...states, CURRENT, ...states]) {
    states[0] = state
    expect(await read()).toBe(state === CURRENT ? replicaClient : primaryClient)
    rest()
  }
  expect(flushPrimary).toHaveBeenCalledOnce()
  expect(logProblem).toHaveBeenCalledExactlyOnceWith(
    expect.stringContaining('may not execute pg_logical_emit_message'),
  )
})

it.each([
  ['is behind', BEHIND, 'it is behind'],
  ['was promoted by itself', { ...CURRENT, isStandby: false }, 'it is no standby'],
  [
    'follows a primary of former times',
    { ...CURRENT, timelineId: '2' },
    'it is not on the timeline of the primary',
  ],
  [
    'knows no timeline',
    { ...CURRENT, timelineId: null },
    'it is not on the timeline of the primary',
  ],
  ['breaks', new Error('Connection terminated'), 'Connection terminated'],
  ['does not answer', 'silent', 'it does not answer'],
] as const)('the primary answers while the standby %s', async (_name, state, reason) => {
  const { logProblem, primaryClient, read, release, replica, router } = open([state])
  expect(await read()).toBe(primaryClient)
  expect(release).toHaveBeenCalledOnce()
  // It is left alone for a while, and its problem told once.
  expect(await read()).toBe(primaryClient)
  expect(replica.connect).toHaveBeenCalledOnce()
  expect(logProblem).toHaveBeenCalledExactlyOnceWith(reason)
  expect(router.counts).toEqual({ replica: 0, primary: 2 })
})

it.each([
  ['of another name', { ...OWN, database: 'staging' }],
  ['of another server', { ...OWN, systemIdentifier: '8' }],
  ['of a copy of the server', { ...OWN, notedAt: '2026-02-03 04:05:06+00' }],
])(
  'a standby with a database %s answers nothing, however far its log is',
  async (_name, identity) => {
    const { logProblem, primaryClient, read, router } = open([CURRENT], identity)
    expect(await read()).toBe(primaryClient)
    expect(logProblem).toHaveBeenCalledExactlyOnceWith('it has another database')
    expect(router.counts).toEqual({ replica: 0, primary: 1 })
  },
)

it('the primary is asked who it is once, and again after it was another than the standby', async () => {
  const moved = { ...OWN, notedAt: '2026-02-03 04:05:06+00' }
  const { askWho, read, primaryClient, replicaClient } = open([CURRENT], moved)
  expect(await read()).toBe(primaryClient)
  // As after a takeover: what the primary had noted when it was asked first is outdated.
  askWho.mockResolvedValue({ rows: [moved] })
  rest()
  expect(await read()).toBe(replicaClient)
  expect(await read()).toBe(replicaClient)
  expect(askWho).toHaveBeenCalledTimes(2)
})

it('a primary that does not know yet who it is, is asked again', async () => {
  const unknown = { ...OWN, systemIdentifier: null, notedAt: null }
  const { askWho, read, replicaClient } = open([CURRENT], OWN)
  askWho.mockResolvedValueOnce({ rows: [unknown] })
  await read()
  rest()
  expect(await read()).toBe(replicaClient)
  expect(await read()).toBe(replicaClient)
  expect(askWho).toHaveBeenCalledTimes(2)
})
