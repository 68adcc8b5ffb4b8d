import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Socket } from 'node:net'
import { sql, type KyselyPlugin } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  browserRows,
  openProofWorld,
  type AnswerRow,
  type OpenedPort,
  type ProofWorld,
} from '../../../test/support/proof-world.ts'
import { startProbeProcess, toOpened } from '../../../test/support/probe-process.ts'
import { countRowsOf } from '../../../test/support/rows-read.ts'
import { systemClock } from '../../platform/clock.ts'
import { REQUESTLESS_MAX } from './judge-requestless.ts'
import type { SeenConnection } from './judge-sockets.ts'
import { insertArrival, listArrivals } from './probe-arrival-store.ts'
import { listLeasesOfAttempt, listLiveLeases } from './probe-lease-store.ts'
import { recordRequestless } from './record-arrival.ts'

let world: ProofWorld

beforeAll(async () => {
  world = await openProofWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  world.answers.clear()
  await world.database.db.deleteFrom('device').execute()
  await world.database.db.deleteFrom('sign_in_attempt').execute()
})

/** A device behind a translation of addresses whose browser has opened every port. */
async function openBehindTranslation(connectBefore?: (port: number) => Promise<Socket>) {
  const device = await world.addDevice()
  const attempt = await world.begin()
  const started = await world.start(attempt)
  const opened: OpenedPort[] = []
  for (const each of started.ports) {
    const socket = await connectBefore?.(each)
    opened.push(await world.open(each, started, {}, socket))
  }
  const [port = 0] = started.ports
  const rows = browserRows(opened, { local_address: '192.0.2.7', local_port: '999' })
  const answer = (answering: () => AnswerRow[] | Promise<AnswerRow[]> = () => rows) => {
    world.answers.set(device, answering)
  }
  answer()
  return { attempt, port, rows, answer }
}

const evidenceOf = async (id: string) => (await world.attempt(id))?.evidence

/** What the record of a sign-in says. */
async function toldOf(id: string): Promise<string> {
  const { events } = await world.database.db
    .selectFrom('auth_log_session')
    .select('events')
    .where('id', '=', (await world.attempt(id))?.authLogSessionId ?? '0')
    .executeTakeFirstOrThrow()
  return events.map(({ event_description: description }) => description).join('\n')
}

describe('behind a translation of addresses', () => {
  it('a browser that was made to connect without a request is refused, and the record says why', async () => {
    const { attempt, port, rows, answer } = await openBehindTranslation()
    let idle: Socket | undefined
    answer(async () => {
      idle = await connectWithoutRequest(port)
      await expect.poll(() => listNotes(attempt.id)).toHaveLength(1)
      return rows
    })
    expect(await world.finish(attempt)).toBe('refused')
    idle?.destroy()
    expect(await evidenceOf(attempt.id)).toMatchObject({
      idle_connections: true,
      idle_arrivals: [{ port, address: '127.0.0.1', client_port: expect.any(Number) as unknown }],
    })
    const told = await toldOf(attempt.id)
    expect(told).toContain(`from 127.0.0.1 to ${port}.`)
    expect(told).toContain('Health checks and scanners open such connections')
    // The first device would connect to its port again, which may by now be one of the second attempt.
    world.answers.clear()
    const again = await openBehindTranslation()
    expect(await world.finish(again.attempt)).toBe('posture')
  })

  it.each([
    ['is no request', (port: number) => speakNoHttp(port)],
    ['comes through a proxy', async (port: number) => requestThroughProxy(port)],
  ])('a connection that %s is noted although it ends at once', async (_what, knock) => {
    const { attempt, port, rows, answer } = await openBehindTranslation()
    answer(async () => {
      await knock(port)
      return rows
    })
    expect(await world.finish(attempt)).toBe('refused')
    expect(await evidenceOf(attempt.id)).toMatchObject({ idle_connections: true })
  })

  it('one that came through a proxy before counts: the browser may still be at the proxy', async () => {
    const { attempt, port } = await openBehindTranslation()
    await requestThroughProxy(port)
    await expect.poll(async () => (await listNotes(attempt.id)).length).toBeGreaterThan(0)
    expect(await world.finish(attempt)).toBe('refused')
  })

  it('one that was open for a while before it came through a proxy is known as such', async () => {
    const { attempt, port } = await openBehindTranslation()
    const process = await startProbeProcess(world, port)
    await process.book.refresh()
    process.handler.noteIdle(process.opened)
    await expect.poll(() => listNotes(attempt.id)).toMatchObject([{ reason: null }])
    await process.request({ via: '1.1 proxy' })
    await expect.poll(() => listNotes(attempt.id)).toMatchObject([{ reason: 'proxied' }])
    expect(await world.finish(attempt)).toBe('refused')
    await process.close()
  })

  it.each([
    ['at once', async () => undefined],
    ['after it was noted', async (id: string) => expect.poll(() => listNotes(id)).toHaveLength(1)],
  ])(
    'a connection that ended %s, before the devices are asked, hinders nobody',
    async (_when, wait) => {
      const { attempt, port } = await openBehindTranslation()
      const spare = await connectWithoutRequest(port)
      await wait(attempt.id)
      spare.destroy()
      await expect.poll(() => listNotes(attempt.id)).toMatchObject([{ reason: 'ended' }])
      expect(await world.finish(attempt)).toBe('posture')
    },
  )

  it('a connection that begins after the device has answered hinders nobody', async () => {
    const { attempt, port, rows, answer } = await openBehindTranslation()
    const { proof_id: proofId } = await world.database.db
      .selectFrom('sign_in_probe_lease')
      .select('proof_id')
      .where('port', '=', port)
      .executeTakeFirstOrThrow()
    answer(async () => {
      // As another process notes it, a while from now.
      await insertArrival(world.database.db, {
        ...{ proofId, attemptId: attempt.id, port, kind: 'idle', reason: null },
        ...{ ipAddress: '192.0.2.9', clientPort: 1, serviceAddress: '127.0.0.1' },
        arrivedAt: new Date(Date.now() + 60_000),
      })
      return rows
    })
    expect(await world.finish(attempt)).toBe('posture')
  })

  it('the connections of the browser itself hinder nobody, although their requests come late', async () => {
    const { attempt } = await openBehindTranslation(async (port) => {
      const socket = await connectWithoutRequest(port)
      const { localPort: clientPort = 0 } = socket
      await noteByAnotherProcess(port, { clientAddress: '127.0.0.1', clientPort })
      return socket
    })
    expect(await listNotes(attempt.id)).toHaveLength(3)
    expect(await world.finish(attempt)).toBe('posture')
  })

  it('is noted once, from when it was opened, by the clock of the database', async () => {
    const { attempt, port } = await openBehindTranslation()
    const spare = await connectWithoutRequest(port)
    const { rows } = await world.database.pool.query<{ now: Date }>(
      'select clock_timestamp() as now',
    )
    await expect.poll(() => listNotes(attempt.id)).toHaveLength(1)
    spare.destroy()
    await expect.poll(() => listNotes(attempt.id)).toMatchObject([{ reason: 'ended' }])
    const [note] = await listNotes(attempt.id)
    expect(note?.arrived_at.getTime()).toBeLessThanOrEqual(rows[0]?.now.getTime() ?? 0)
  })

  it('is noted with one statement, and came when it was opened, however long that has to wait', async () => {
    const { attempt, port } = await openBehindTranslation()
    const transaction = await world.database.db.startTransaction().execute()
    await sql`lock table sign_in_probe_arrival in exclusive mode`.execute(transaction)
    let statements = 0
    const counting: KyselyPlugin = {
      transformQuery: ({ node }) => {
        statements += 1
        return node
      },
      transformResult: async ({ result }) => result,
    }
    const noting = noteByAnotherProcess(port, {}, world.database.db.withPlugin(counting))
    const { db } = world.database
    const isWaiting = sql`select from pg_locks where not granted
      and relation = 'sign_in_probe_arrival'::regclass
      and database = (select oid from pg_database where datname = current_database())`
    await expect.poll(async () => (await isWaiting.execute(db)).rows).not.toHaveLength(0)
    await sleep(200)
    const releasedMs = Date.now()
    await transaction.rollback().execute()
    expect(await noting).toEqual(expect.any(String))
    expect(statements).toBe(1)
    const [note] = await listNotes(attempt.id)
    expect(note?.arrived_at.getTime()).toBeLessThan(releasedMs - 100)
  })

  it('is waited for where it takes long to note it', async () => {
    const { attempt, port, rows, answer } = await openBehindTranslation()
    answer(async () => {
      const transaction = await world.database.db.startTransaction().execute()
      await sql`lock table sign_in_probe_arrival in exclusive mode`.execute(transaction)
      await connectWithoutRequest(port)
      // Longer than another process is given.
      setTimeout(() => void transaction.rollback().execute(), 2_000)
      return rows
    })
    expect(await world.finish(attempt)).toBe('refused')
  })

  it('where one could not be noted nobody is let in, and the record says why', async () => {
    const { attempt, port, rows, answer } = await openBehindTranslation()
    const { db } = world.database
    answer(async () => {
      await sql`alter table sign_in_probe_arrival
        add constraint none_idle check (kind <> 'idle') not valid`.execute(db)
      await speakNoHttp(port)
      return rows
    })
    const stage = await world.finish(attempt)
    await sql`alter table sign_in_probe_arrival drop constraint none_idle`.execute(db)
    expect(stage).toBe('refused')
    expect(await listNotes(attempt.id)).toEqual([])
    expect(await evidenceOf(attempt.id)).toMatchObject({ idle_connections: true })
    expect(await toldOf(attempt.id)).toContain('could not note who else connected')
  })

  it('of very many few are noted, and then all count', async () => {
    const { attempt, port } = await openBehindTranslation()
    for (let made = 0; made < REQUESTLESS_MAX + 5; made += 1) await speakNoHttp(port)
    const ended = Array.from({ length: REQUESTLESS_MAX }, () => ({ reason: 'ended' }))
    await expect.poll(() => listNotes(attempt.id)).toMatchObject(ended)
    // Nor does another process note more.
    expect(await noteByAnotherProcess(port)).toBeUndefined()
    expect(await world.finish(attempt)).toBe('refused')
    expect(await listNotes(attempt.id)).toHaveLength(REQUESTLESS_MAX)
  })

  it('a connection that was there before the lease is noted too', async () => {
    const early = await world.begin()
    const { ports } = await world.start(early)
    const free = world.allPorts.filter((port) => !ports.includes(port))
    const sockets = await Promise.all(free.map(connectWithoutRequest))
    const { attempt } = await openBehindTranslation()
    await expect.poll(async () => (await listNotes(attempt.id)).length).toBeGreaterThan(0)
    // They would be there before the leases of the next test as well.
    for (const socket of sockets) socket.destroy()
  })
})

describe('behind a translation of addresses, a proof that is decided when the lease of its ports would end', () => {
  /** A device that answers once the lease would have ended, having connected with `connectToo`. */
  async function openForMs(leasedMs: number, connectToo?: (port: number) => Promise<Socket>) {
    const opened = await openBehindTranslation()
    const { attempt, port, rows, answer } = opened
    await leaseUntil(attempt.id, Date.now() + leasedMs)
    await world.runJobs()
    const sockets: Socket[] = []
    answer(async () => {
      await sleep(leasedMs)
      if (connectToo !== undefined) sockets.push(await connectToo(port))
      return rows
    })
    const stage = await world.finish(attempt)
    for (const socket of sockets) socket.destroy()
    return { ...opened, stage }
  }

  it('knows who connects after that', async () => {
    const { attempt, port, stage } = await openForMs(4_000, connectWithoutRequest)
    expect(stage).toBe('refused')
    expect(await evidenceOf(attempt.id)).toMatchObject({ idle_arrivals: [{ port }] })
  })

  it('is proven where nobody does', async () => {
    expect((await openForMs(4_000)).stage).toBe('posture')
  })

  it('lets nobody in where it began so late that not all processes know of it in time', async () => {
    const { attempt, stage } = await openForMs(500)
    expect(stage).toBe('refused')
    expect(await toldOf(attempt.id)).toContain('could not note who else connected')
  })

  it.each([
    ['has ended', async (id: string) => leaseUntil(id, Date.now())],
    ['is that of another sign-in', async (id: string) => deleteLease(id)],
  ])('lets nobody in where the lease of a port %s meanwhile', async (_what, end) => {
    const { attempt, rows, answer } = await openBehindTranslation()
    answer(async () => {
      await end(attempt.id)
      return rows
    })
    expect(await world.finish(attempt)).toBe('refused')
    expect(await toldOf(attempt.id)).toContain('could not note who else connected')
  })
})

it('what is read of a proof does not grow with what others left', async () => {
  const { attempt } = await openBehindTranslation()
  const { attempt: other } = await openBehindTranslation()
  const { db } = world.database
  await sql`insert into sign_in_probe_arrival
      (proof_id, attempt_id, port, kind, ip_address, client_port, service_address, arrived_at)
    select gen_random_uuid(), ${other.id}, 47000, 'counted', '192.0.2.9', 1, '127.0.0.1', now()
    from generate_series(1, 5000)`.execute(db)
  await sql`analyze sign_in_probe_arrival`.execute(db)
  const [lease] = await listLeasesOfAttempt(db, attempt.id, new Date())
  let found = 0
  const read = await countRowsOf(world.database, 'sign_in_probe_arrival', async (reading) => {
    found = (await listArrivals(reading, lease!)).length
  })
  expect(found).toBeGreaterThanOrEqual(3)
  expect(read).toBe(found)
})

/** Has the leases of a sign-in end at a time; no process is told. */
async function leaseUntil(attemptId: string, ms: number): Promise<void> {
  await world.database.db
    .updateTable('sign_in_probe_lease')
    .set({ leased_until: new Date(ms) })
    .where('attempt_id', '=', attemptId)
    .execute()
}

/** Ends the lease of one port, as that of another sign-in does which gets it. */
async function deleteLease(attemptId: string): Promise<void> {
  await world.database.db
    .deleteFrom('sign_in_probe_lease')
    .where('attempt_id', '=', attemptId)
    .where('position', '=', 1)
    .execute()
}

/** Notes a connection to a port. */
async function noteByAnotherProcess(
  port: number,
  changes: Partial<SeenConnection> = {},
  db = world.database.db,
) {
  const leases = await listLiveLeases(world.database.db, new Date())
  const lease = leases.find((each) => each.port === port)
  if (lease === undefined) throw new Error('the proof is over')
  return recordRequestless({ db, clock: systemClock }, lease, toOpened(port, changes), 'open')
}

/** The connections without a request that are on record: on a busy machine a while after they were made. */
async function listNotes(attemptId: string) {
  return world.database.db
    .selectFrom('sign_in_probe_arrival')
    .select(['id', 'reason', 'arrived_at'])
    .where('attempt_id', '=', attemptId)
    .where('kind', '=', 'idle')
    .orderBy('id')
    .execute()
}

async function connectWithoutRequest(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.on('error', () => undefined)
  return socket
}

/** As the address of a server for relays makes a browser do, which a page of anybody can name. RFC 8656. */
async function speakNoHttp(port: number): Promise<void> {
  const socket = await connectWithoutRequest(port)
  socket.end(Buffer.from('000300002112a442', 'hex'))
  await new Promise((resolve) => socket.once('close', resolve))
}

async function requestThroughProxy(port: number): Promise<void> {
  const headers = { 'x-forwarded-for': '192.0.2.1' }
  await fetch(`http://127.0.0.1:${port}/`, { headers }).catch(() => undefined)
}
