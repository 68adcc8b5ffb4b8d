import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startProbeProcess, type ProbeProcess } from '../../../test/support/probe-process.ts'
import { openProofWorld, type ProofWorld } from '../../../test/support/proof-world.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
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
    const readsMax = 1 + (performance.now() - begunMs) / 100
    expect(untold.countReads() - before).toBeLessThanOrEqual(readsMax)
  })
})

it('a process that knows of no proof lets the browser of one in, although somebody has knocked just before', async () => {
  const { id } = await world.begin()
  await untold.book.look(20_009)
  const open = await startOnSamePorts(id)
  expect(await open()).toBe(200)
})
