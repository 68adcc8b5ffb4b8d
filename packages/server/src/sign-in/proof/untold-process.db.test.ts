import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  startProbeProcess,
  toOpened,
  type ProbeProcess,
} from '../../../test/support/probe-process.ts'
import { openProofWorld, type ProofWorld } from '../../../test/support/proof-world.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { listLeasesOfAttempt } from './probe-lease-store.ts'
import { PROBE_PREFIX, toProofCookie } from './probe-request-input.ts'
import { startProof } from './start-proof.ts'

let world: ProofWorld
/** It hears of no change of the leases. */
let untold: ProbeProcess

beforeAll(async () => {
  world = await openProofWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.database.db.deleteFrom('sign_in_attempt').execute()
  untold = await startProbeProcess(world, 20_000)
})
afterEach(() => untold.close())

/** Ports that nobody listens at: always the same three. */
const PORTS = [20_000, 20_001, 20_002]

/** The request of the page to a port of the proof that begins now. */
async function startOnSamePorts(attemptId: string) {
  const { token, cookie } = await world.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    startProof(change, attemptId, PORTS),
  )
  const { name } = toProofCookie(attemptId, world.baseUrl)
  const headers = { origin: world.baseUrl, 'sec-fetch-site': 'same-site' }
  const path = `${PROBE_PREFIX}${token}`
  return async (own = cookie) =>
    (await untold.request({ ...headers, cookie: `${name}=${own}` }, path)).status
}

/** Ten readings a second, of which each may come a few milliseconds early, as timers may. */
const mostReadsSince = (begunMs: number) => 1 + (performance.now() - begunMs) / 95

const stageOf = async (id: string) => {
  const { stage, refusalCode } = (await world.attempt(id)) ?? {}
  return [stage, refusalCode]
}

describe('a process that has not heard of a proof that began anew on the same port', () => {
  it('lets its browser in', async () => {
    const { id } = await world.begin()
    await startOnSamePorts(id)
    await untold.book.refresh()
    const open = await startOnSamePorts(id)
    expect(await open()).toBe(200)
    expect(await stageOf(id)).toEqual(['device', null])
  })

  it('refuses whoever has not its cookie', async () => {
    const { id } = await world.begin()
    await startOnSamePorts(id)
    await untold.book.refresh()
    const open = await startOnSamePorts(id)
    expect(await open('another')).toBe(403)
    expect(await stageOf(id)).toEqual(['refused', 'relayed'])
    expect(await open()).toBe(404)
  })

  it('lets its browser in while many others knock, for whom it reads ten times a second at most', async () => {
    const { id } = await world.begin()
    await startOnSamePorts(id)
    await untold.book.refresh()
    const before = untold.countReads()
    const begunMs = performance.now()
    const open = await startOnSamePorts(id)
    const knocking = Array.from({ length: 50 }, async () => untold.book.look(20_009))
    expect(await open()).toBe(200)
    await Promise.all(knocking)
    await untold.book.look(20_009)
    expect(untold.countReads() - before).toBeLessThanOrEqual(mostReadsSince(begunMs))
  })
})

it('a process that knows of no proof lets the browser of one in, although somebody has knocked just before', async () => {
  const { id } = await world.begin()
  await untold.book.look(20_009)
  const open = await startOnSamePorts(id)
  expect(await open()).toBe(200)
})

describe('a connection without a request at a process that has not heard of the proof', () => {
  it.each(['noteIdle', 'noteEnded'] as const)(
    'is on record once its notes are settled, where no other was known: %s',
    async (note) => {
      const { id } = await world.begin()
      await startOnSamePorts(id)
      untold.handler[note](untold.opened)
      await untold.handler.settle()
      expect(await listNotedProofs(id)).toHaveLength(1)
    },
  )

  it('is on record before its proof is decided, which waits for nobody else', async () => {
    const { id } = await world.begin()
    await startOnSamePorts(id)
    const [lease] = await listLeasesOfAttempt(world.database.db, id, new Date())
    untold.handler.noteIdle(untold.opened)
    expect(await untold.handler.settleNotesOf({ ...lease!, ports: PORTS })).toBe(true)
    expect(await listNotedProofs(id)).toEqual([lease?.proofId])
  })

  it('is on record of the proof that has the port, and not only of one that is over', async () => {
    const { id } = await world.begin()
    await startOnSamePorts(id)
    await untold.book.refresh()
    await startOnSamePorts(id)
    untold.handler.noteIdle(untold.opened)
    await untold.handler.settle()
    const leases = await listLeasesOfAttempt(world.database.db, id, new Date())
    expect(await listNotedProofs(id)).toContain(leases[0]?.proofId)
  })

  it('is on record where it came through a proxy', async () => {
    const { id } = await world.begin()
    await startOnSamePorts(id)
    expect((await untold.request({ via: '1.1 proxy' })).status).toBe(421)
    await untold.handler.settle()
    expect(await listNotedProofs(id)).toHaveLength(1)
  })

  it('costs ten readings a second at most, however many there are', async () => {
    const begunMs = performance.now()
    for (let made = 0; made < 200; made += 1) untold.handler.noteEnded(toOpened(20_009))
    await untold.handler.settle()
    for (let made = 0; made < 200; made += 1) untold.handler.noteEnded(toOpened(20_009))
    await untold.handler.settle()
    expect(untold.countReads()).toBeLessThanOrEqual(mostReadsSince(begunMs))
  })
})

const listNotedProofs = async (attemptId: string) => {
  const rows = await world.database.db
    .selectFrom('sign_in_probe_arrival')
    .select('proof_id')
    .where('attempt_id', '=', attemptId)
    .where('kind', '=', 'idle')
    .execute()
  return rows.map(({ proof_id: proofId }) => proofId)
}
