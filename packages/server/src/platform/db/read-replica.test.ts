import type { PoolClient } from 'pg'
import { expect, it, vi } from 'vitest'
import { readFromReplica, ReplicaRouter } from './read-replica.ts'

interface State {
  isStandby: boolean
  hasReplayed: boolean
  timelineId: string | null
}

const OWN = { database: 'heliograph', systemIdentifier: '7' }
const asksWho = (text: string) => text.includes('current_database')

const CURRENT: State = { isStandby: true, hasReplayed: true, timelineId: '3' }

/** A router over a primary at position 0/5 of timeline 3, and a standby that says these states one after another. */
function open(states: readonly (State | Error | 'silent')[], identity: object = OWN) {
  const asked: unknown[] = []
  const left = [...states]
  const answerState = () => {
    const state = left.length > 1 ? left.shift() : left[0]
    if (state instanceof Error) return Promise.reject(state)
    return state === 'silent' ? new Promise(() => undefined) : Promise.resolve({ rows: [state] })
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
  const askPrimary = vi.fn(() => Promise.resolve({ rows: [{ lsn: '0/5', timelineId: '3' }] }))
  const primaryClient = {
    query: (text: string) => (asksWho(text) ? Promise.resolve({ rows: [OWN] }) : askPrimary()),
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
  expect(asked).toEqual([['0/5']])
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
  const behind = { ...CURRENT, hasReplayed: false }
  const { read, replicaClient } = open([behind, behind, CURRENT])
  expect(await read()).toBe(replicaClient)
})

it.each([
  ['is behind', { ...CURRENT, hasReplayed: false }, 'it is behind'],
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
])(
  'a standby with a database %s answers nothing, however far its log is',
  async (_name, identity) => {
    const { logProblem, primaryClient, read, router } = open([CURRENT], identity)
    expect(await read()).toBe(primaryClient)
    expect(logProblem).toHaveBeenCalledExactlyOnceWith('it has another database')
    expect(router.counts).toEqual({ replica: 0, primary: 1 })
  },
)
