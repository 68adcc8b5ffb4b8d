import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type KyselyPlugin } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startProbeProcess, toOpened } from '../../../test/support/probe-process.ts'
import { openProofWorld, type ProofWorld } from '../../../test/support/proof-world.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { systemClock } from '../../platform/clock.ts'
import { newUuid } from '../../platform/ids.ts'
import { REQUESTLESS_MAX } from './judge-requestless.ts'
import { LeaseBook } from './lease-book.ts'
import { listLeasesOfAttempt, listLiveLeases } from './probe-lease-store.ts'
import { RequestlessNotes } from './requestless-notes.ts'
import { startProof } from './start-proof.ts'

let world: ProofWorld
/** Resolves when the database answers what it has read. */
let answering: PromiseWithResolvers<void>
let book: LeaseBook
let reads: number
let notes: RequestlessNotes
const logError = vi.fn()

beforeAll(async () => {
  world = await openProofWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.database.db.deleteFrom('sign_in_attempt').execute()
  answering = Promise.withResolvers()
  const { db } = world.database
  reads = 0
  const listLeases = async () => {
    const leases = await listLiveLeases(db, new Date())
    reads += 1
    await answering.promise
    return leases
  }
  book = new LeaseBook(systemClock, listLeases, () => undefined)
  notes = new RequestlessNotes({ db, clock: systemClock, logError }, () => book)
})
afterEach(async () => {
  answering.resolve()
  await notes.settle()
  await book.settle()
  vi.clearAllMocks()
})

/** A proof whose first port is `port`, of which this process has not heard. */
async function startAt(port: number) {
  const { id } = await world.begin()
  await world.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    startProof(change, id, [port, port + 1, port + 2]),
  )
  // One address has half of the ports at most.
  await world.database.db
    .updateTable('sign_in_probe_lease')
    .set({ ip_address: '198.51.100.77' })
    .where('attempt_id', '=', id)
    .execute()
  const [lease] = await listLeasesOfAttempt(world.database.db, id, new Date())
  if (lease === undefined) throw new Error('the proof is over')
  return { ...lease, id, ports: [port, port + 1, port + 2] }
}

const countNotes = async (attemptId: string) => {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from sign_in_probe_arrival
    where attempt_id = ${attemptId} and kind = 'idle'`.execute(world.database.db)
  return rows[0]?.count
}

const listReasons = async (attemptId: string) => {
  const { rows } = await sql<{ reason: string | null }>`
    select reason from sign_in_probe_arrival where attempt_id = ${attemptId}`.execute(
    world.database.db,
  )
  return rows.map(({ reason }) => reason)
}

it('of those that come while the leases cannot be read few are kept, and then all count', async () => {
  const { id } = await startAt(20_000)
  for (let round = 0; round < 10; round += 1) {
    for (let made = 0; made < 100; made += 1) notes.note(toOpened(20_000), 'ended')
    // Longer than what is read waits for its turn.
    await sleep(50)
  }
  expect(notes.unreadCount).toBeLessThanOrEqual(2 * REQUESTLESS_MAX)
  answering.resolve()
  await notes.settle()
  expect(notes.unreadCount).toBe(0)
  expect(await countNotes(id)).toBe(REQUESTLESS_MAX)
})

it('one that comes while the leases are read is noted at a lease that is read after that', async () => {
  for (let made = 0; made <= REQUESTLESS_MAX; made += 1) notes.note(toOpened(20_000), 'open')
  await expect.poll(() => reads).toBe(1)
  const { id } = await startAt(20_000)
  notes.note(toOpened(20_000), 'open')
  answering.resolve()
  await notes.settle()
  expect(await countNotes(id)).toBe(1)
})

it('what is noted last of a connection is on record, however often it is told of before the leases are read', async () => {
  const { id } = await startAt(20_000)
  const opened = toOpened(20_000)
  for (const stay of ['open', 'open', 'ended'] as const) notes.note(opened, stay)
  answering.resolve()
  await notes.settle()
  expect(await countNotes(id)).toBe(1)
  expect(await listReasons(id)).toEqual(['ended'])
})

it('a proof waits for its own notes, and for nobody else whose notes take long', async () => {
  const own = await startAt(20_000)
  const other = await startAt(20_010)
  answering.resolve()
  await book.refresh()
  const { db } = world.database
  const transaction = await db.startTransaction().execute()
  await sql`lock table sign_in_probe_arrival in exclusive mode`.execute(transaction)
  notes.note(toOpened(20_010), 'open')
  await notes.settleOf(own)
  let isOtherSettled = false
  const otherSettled = notes.settleOf(other).then(() => (isOtherSettled = true))
  await sleep(300)
  expect(isOtherSettled).toBe(false)
  await transaction.rollback().execute()
  await otherSettled
  expect(await countNotes(other.id)).toBe(1)
})

it('is waited for although another note of the same connection has failed, which is logged once', async () => {
  const former = await startAt(20_000)
  answering.resolve()
  await book.refresh()
  await world.database.db.deleteFrom('sign_in_attempt').where('id', '=', former.id).execute()
  const { id } = await startAt(20_000)
  const failing = new Error('the database is away')
  const known = vi.spyOn(book, 'nextReading').mockRejectedValueOnce(failing)
  notes.note(toOpened(20_000), 'ended')
  notes.note(toOpened(20_000), 'ended')
  await notes.settle()
  known.mockRestore()
  expect(logError).toHaveBeenCalledWith(failing, expect.any(String))
  expect(await countNotes(id)).toBe(1)
})

describe('that not all could be noted is known', () => {
  const failing = new Error('the database is busy')

  it('of a proof one of whose notes has failed, for which no more are tried', async () => {
    const own = await startAt(20_000)
    const other = await startAt(20_010)
    answering.resolve()
    await book.refresh()
    let tries = 0
    const refusing: KyselyPlugin = {
      transformQuery: () => {
        tries += 1
        throw failing
      },
      transformResult: async ({ result }) => result,
    }
    const db = world.database.db.withPlugin(refusing)
    notes = new RequestlessNotes({ db, clock: systemClock, logError }, () => book)
    notes.note(toOpened(20_000), 'ended')
    expect(await notes.settleOf(own)).toBe(false)
    expect(await notes.settleOf(other)).toBe(true)
    for (let made = 0; made < 100; made += 1) notes.note(toOpened(20_000), 'ended')
    await notes.settle()
    expect(tries).toBe(1)
    expect(await notes.settleOf(own)).toBe(false)
    expect(logError).toHaveBeenCalledWith(failing, expect.any(String))
  })

  it('of one at a port whose lease could not be read since it began, and of no other', async () => {
    const own = await startAt(20_000)
    const other = await startAt(20_010)
    const reading = vi.spyOn(book, 'nextReading').mockRejectedValueOnce(failing)
    notes.note(toOpened(20_000), 'ended')
    expect(await notes.settleOf(own)).toBe(false)
    expect(await notes.settleOf(other)).toBe(true)
    reading.mockRestore()
    await world.database.db.deleteFrom('sign_in_attempt').where('id', '=', own.id).execute()
    await sleep(2)
    const later = await startAt(20_000)
    expect(await notes.settleOf(later)).toBe(true)
  })

  it('of none whose ports had no connection any more when it began, as after a health check', async () => {
    const opened = toOpened(20_000)
    const reading = vi.spyOn(book, 'nextReading')
    const failed = Promise.withResolvers<void>()
    reading.mockReturnValue(failed.promise)
    notes.note(opened, 'open')
    notes.note(opened, 'ended')
    await sleep(2)
    const own = await startAt(20_000)
    notes.note(toOpened(20_001), 'open')
    const other = await startAt(20_010)
    failed.reject(failing)
    await notes.settle()
    reading.mockRestore()
    expect(await notes.settleOf({ ...own, ports: [20_000] })).toBe(true)
    expect(await notes.settleOf(own)).toBe(false)
    expect(await notes.settleOf(other)).toBe(true)
  })

  it('of none at which all of them are noted, although the leases could not be read anew', async () => {
    const own = await startAt(20_000)
    answering.resolve()
    await book.refresh()
    const reading = vi.spyOn(book, 'nextReading').mockRejectedValue(failing)
    const opened = toOpened(20_000)
    for (const stay of ['open', 'ended'] as const) {
      notes.note(opened, stay)
      await notes.settle()
    }
    expect(await notes.settleOf(own)).toBe(true)
    expect(await listReasons(own.id)).toEqual(['ended'])
    // Another proof may have got the port.
    expect(await notes.settleOf({ ...own, proofId: newUuid() })).toBe(false)
    vi.spyOn(book, 'find').mockReturnValueOnce(undefined)
    notes.note(toOpened(20_000), 'ended')
    await notes.settle()
    notes.note(opened, 'ended')
    await notes.settle()
    reading.mockRestore()
    expect(await notes.settleOf(own)).toBe(false)
  })
})

describe('a connection that ended before the lease of its port began', () => {
  it('is nothing to that lease, however long the leases could not be read', async () => {
    const opened = toOpened(20_000)
    notes.note(opened, 'open')
    for (let made = 0; made < REQUESTLESS_MAX; made += 1) notes.note(toOpened(20_000), 'ended')
    await expect.poll(() => reads).toBe(1)
    notes.note(opened, 'ended')
    await sleep(2)
    const { id } = await startAt(20_000)
    answering.resolve()
    await notes.settle()
    expect(await countNotes(id)).toBe(0)
  })

  it('keeps none out that came since', async () => {
    notes.note(toOpened(20_010), 'open')
    await expect.poll(() => reads).toBe(1)
    for (let made = 0; made < REQUESTLESS_MAX; made += 1) notes.note(toOpened(20_000), 'ended')
    await sleep(2)
    const { id } = await startAt(20_000)
    notes.note(toOpened(20_000), 'open')
    answering.resolve()
    await notes.settle()
    expect(await countNotes(id)).toBe(1)
  })
})

describe('requests at once', () => {
  /** Requests that wait for the lease of their port for as long as the test takes. */
  async function startWaiting() {
    const process = await startProbeProcess(world, 20_000)
    const reading = vi.spyOn(process.book, 'look').mockReturnValue(new Promise(() => undefined))
    const refused = vi.fn()
    const response = { headersSent: false, writeHead: refused, end: vi.fn() }
    refused.mockReturnValue(response)
    const send = (clientAddress: string, socket = new EventEmitter()) => {
      const opened = toOpened(20_000, { clientAddress })
      process.handler.answer({ headers: {}, socket } as never, response as never, opened)
    }
    return { process, reading, refused, send }
  }

  it('are answered as many of one address as it may have connections', async () => {
    const { process, reading, refused, send } = await startWaiting()
    for (let made = 0; made < 129; made += 1) send('192.0.2.9')
    expect(reading).toHaveBeenCalledTimes(128)
    expect(refused.mock.calls).toEqual([[503, expect.anything()]])
    send('192.0.2.10')
    expect(reading).toHaveBeenCalledTimes(129)
    await process.close()
  })

  it('are answered as many in all as there may be connections', async () => {
    const { process, reading, send } = await startWaiting()
    for (let made = 0; made < 4_097; made += 1) send(`192.0.${made >> 6}.2`)
    expect(reading).toHaveBeenCalledTimes(4_096)
    await process.close()
  })

  it('are noted where they are too many, and their end too', async () => {
    const { id } = await startAt(20_000)
    const { process, send } = await startWaiting()
    for (let made = 0; made < 128; made += 1) send('192.0.2.9')
    const socket = new EventEmitter()
    send('192.0.2.9', socket)
    await process.handler.settle()
    expect(await listReasons(id)).toEqual([null])
    socket.emit('close')
    await process.handler.settle()
    expect(await listReasons(id)).toEqual(['ended'])
    await process.close()
  })

  it('are waited for by the proof of their port, until what could not be judged is noted', async () => {
    const own = await startAt(20_000)
    const other = await startAt(20_010)
    const { process, reading, refused, send } = await startWaiting()
    const judging = Promise.withResolvers<never>()
    reading.mockReturnValueOnce(judging.promise)
    send('192.0.2.9', Object.assign(new EventEmitter(), { destroyed: false }))
    let isSettled = false
    const settled = process.handler.settleNotesOf(own).then(() => (isSettled = true))
    expect(await process.handler.settleNotesOf(other)).toBe(true)
    await sleep(300)
    expect(isSettled).toBe(false)
    judging.reject(new Error('the database is busy'))
    await settled
    expect(refused.mock.calls).toEqual([[503, expect.anything()]])
    expect(await listReasons(own.id)).toEqual([null])
    await process.close()
  })

  it('are noted where they could not be judged', async () => {
    const { id } = await startAt(20_000)
    const { process, reading, refused, send } = await startWaiting()
    reading.mockRejectedValueOnce(new Error('the database is busy'))
    const socket = Object.assign(new EventEmitter(), { destroyed: true })
    send('192.0.2.9', socket)
    await expect.poll(() => refused.mock.calls).toEqual([[503, expect.anything()]])
    await process.handler.settle()
    expect(await listReasons(id)).toEqual(['ended'])
    await process.close()
  })
})
