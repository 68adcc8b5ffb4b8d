import { sql } from 'kysely'
import { decodeJwt } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { insertDevice, insertPerson } from '../../../test/support/factories.ts'
import { createStreamsApi, type StreamsApi } from '../../../test/support/streams-api.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { DeviceStatusChange } from '../../changes/domain-event.ts'
import { DAY_MS, SECOND_MS } from '../../platform/clock.ts'
import type { StreamRowId } from '../../schema/branded-ids.ts'
import type { Compliance } from '../../schema/status-values.ts'
import { PARTITION_IDS } from '../dispatch/delivery-range-store.ts'
import { backfillStreams } from './backfill-streams.ts'
import { updateSequences } from './sequence-store.ts'

const COMPLIANCE = 'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change'

interface Stream {
  readonly id: string
  readonly stream_id: string
}

interface Claims {
  readonly jti: string
  readonly txn: string
  readonly heliograph_sequence?: number
  readonly events: Record<string, { current_status: Compliance; event_timestamp: number }>
}

interface State {
  readonly as_of_sequence: number
  readonly next_cursor: string | null
  readonly subjects: {
    status: string
    jti: string | null
    sequence: number | null
    sub_id: object
  }[]
}

let streams: StreamsApi

beforeAll(async () => {
  streams = await createStreamsApi()
})
afterAll(() => streams.close())
afterEach(async () => {
  await streams.clear()
  await streams.db.deleteFrom('device').execute()
})

const createStream = (extra: object = {}) =>
  streams.createStream({ name: 'history', heliograph_sequence: true, ...extra })

/** Makes a device another word, with all that goes with it but the evaluation. */
async function turn(deviceId: string, to: Compliance): Promise<void> {
  const from = to === 'compliant' ? 'not-compliant' : 'compliant'
  const states = { compliant: 'Good', 'not-compliant': 'Blocked' } as const
  await streams.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    const statusChange: DeviceStatusChange = {
      device: { id: deviceId, name: 'd', platform: 'linux', owner: null },
      previous: { authState: states[from], compliance: from },
      current: { authState: states[to], compliance: to },
      occurredAt: change.at,
      initiatingEntity: 'policy',
      reasons: [],
    }
    await change.tx
      .updateTable('device')
      .set({ compliance: to, auth_state: states[to] })
      .where('id', '=', deviceId)
      .execute()
    await change.tx
      .insertInto('device_status_transition')
      .values({
        device_id: deviceId,
        occurred_at: change.at,
        from_state: states[from],
        to_state: states[to],
        from_compliance: from,
        to_compliance: to,
        initiating_entity: 'policy',
        actor_name: 'System',
        reason: '',
        txn: change.txn,
      })
      .execute()
    change.recordEvent({ type: 'device.status_changed', ...statusChange })
  })
  streams.clock.advance(SECOND_MS)
}

async function poll(stream: Stream, body: object = {}): Promise<Claims[]> {
  const answer = await streams.call<{ sets: Record<string, string> }>(
    `/ssf_streams/${stream.stream_id}/events`,
    { method: 'POST', payload: body },
  )
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return Object.values(answer.body.sets).map((token) => decodeJwt<Claims>(token))
}

const acknowledge = (stream: Stream, claims: readonly Claims[]) =>
  poll(stream, { ack: claims.map(({ jti }) => jti), maxEvents: 0 })

const readState = async (stream: Stream) =>
  (await streams.call<State>(`/ssf_streams/${stream.id}/state`)).body

const replay = <Body>(stream: Stream, payload: object) =>
  streams.call<Body>(`/ssf_streams/${stream.id}/replay`, { method: 'POST', payload })

const runBackfills = () =>
  backfillStreams({ db: streams.db, runChange: streams.runChange, sealer: streams.sealer })

const word = (claims: Claims) => claims.events[COMPLIANCE]?.current_status

describe('the numbers of a stream', () => {
  it('count its SETs from 1, in the order of the changes, and stay the same whenever they are read', async () => {
    const stream = await createStream()
    const device = await insertDevice(streams.db)
    for (const to of ['not-compliant', 'compliant', 'not-compliant'] as const) {
      await turn(device, to)
    }
    const first = await poll(stream, { maxEvents: 1 })
    const all = await poll(stream)
    expect(all.map((claims) => claims.heliograph_sequence)).toEqual([1, 2, 3])
    expect(first).toEqual(all.slice(0, 1))
    await turn(device, 'compliant')
    expect((await poll(stream)).map((claims) => claims.heliograph_sequence)).toEqual([1, 2, 3, 4])
  })

  it('are given once when many poll at the same time', async () => {
    const stream = await createStream()
    for (let index = 0; index < 20; index += 1) {
      await turn(await insertDevice(streams.db), 'not-compliant')
    }
    const answers = await Promise.all(Array.from({ length: 8 }, () => poll(stream)))
    const expected = Array.from({ length: 20 }, (_, index) => index + 1)
    for (const answer of answers) {
      expect(answer.map((claims) => claims.heliograph_sequence)).toEqual(expected)
    }
  })

  it('are given to what waits again while others are given theirs, before it is handed out', async () => {
    const stream = await createStream()
    const destinationId = await streams.getDestinationId(stream.id)
    const numbered = { streamRowId: stream.id as StreamRowId, destinationId }
    await turn(await insertDevice(streams.db), 'not-compliant')
    await streams.db.updateTable('delivery').set({ state: 'discarded' }).execute()
    await sql`select setval('delivery_id_seq', ${3n * PARTITION_IDS}::bigint)`.execute(streams.db)
    await turn(await insertDevice(streams.db), 'not-compliant')
    await sql`update delivery_destination set queued_from_id = ${3n * PARTITION_IDS}::bigint`.execute(
      streams.db,
    )
    await streams.db
      .insertInto('ssf_stream_sequence')
      .values({ ssf_stream_id: numbered.streamRowId })
      .execute()
    const numbering = await streams.db.transaction().execute(async (tx) => {
      await sql`select from ssf_stream_sequence for update`.execute(tx)
      const waiting = updateSequences(streams.db, numbered)
      // It has read where to begin, and waits for its turn.
      await expect.poll(countWaiting).toBe(1)
      await streams.db.updateTable('delivery').set({ state: 'queued' }).execute()
      return { waiting }
    })
    expect(await numbering.waiting).toBe(true)
    const claims = await poll(stream)
    expect(claims.map((each) => each.heliograph_sequence).sort()).toEqual([1, 2])
  })

  /** The statements that wait for a lock of another one. */
  async function countWaiting(): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(streams.db)
    return rows[0]?.count ?? 0
  }

  it('are not there unless the stream asks for them', async () => {
    const stream = await createStream({ heliograph_sequence: false })
    await turn(await insertDevice(streams.db), 'not-compliant')
    expect(await poll(stream)).toEqual([
      expect.not.objectContaining({ heliograph_sequence: expect.anything() as number }),
    ])
  })
})

describe('GET /ssf_streams/{id}/state', () => {
  it('tells the present status of every device, and which event told it', async () => {
    const stream = await createStream()
    const [bad, good, quiet] = [
      await insertDevice(streams.db),
      await insertDevice(streams.db),
      await insertDevice(streams.db),
    ]
    await turn(bad, 'not-compliant')
    await turn(good, 'not-compliant')
    await turn(good, 'compliant')
    const state = await readState(stream)
    const told = await poll(stream)
    expect(state).toMatchObject({ as_of_sequence: 3, next_cursor: null })
    expect(state.subjects.map(({ status, sequence, jti }) => ({ status, sequence, jti }))).toEqual([
      { status: 'not-compliant', sequence: 1, jti: told[0]?.jti },
      { status: 'compliant', sequence: 3, jti: told[2]?.jti },
      { status: 'not-compliant', sequence: null, jti: null },
    ])
    expect(state.subjects[2]?.sub_id).toMatchObject({ device: { sub: quiet } })
  })

  it('names no event whose content is no longer kept', async () => {
    const stream = await createStream()
    await turn(await insertDevice(streams.db), 'compliant')
    await acknowledge(stream, await poll(stream))
    await streams.db.updateTable('delivery').set({ body: '', token: null }).execute()
    const { subjects } = await readState(stream)
    expect(subjects).toMatchObject([{ status: 'compliant', jti: null, sequence: null }])
  })

  it('leaves out what the stream cannot name', async () => {
    const stream = await createStream({ subject_form: 'email' })
    const person = await insertPerson(streams.db, { email: 'grace@example.com' })
    await insertDevice(streams.db)
    await insertDevice(streams.db, { owner_person_id: person })
    const { subjects } = await readState(stream)
    expect(subjects.map((subject) => subject.sub_id)).toEqual([
      { format: 'email', email: 'grace@example.com' },
    ])
  })

  it('goes on where a page ended, and refuses a cursor that is none', async () => {
    const stream = await createStream()
    const first = await insertDevice(streams.db)
    await insertDevice(streams.db)
    const url = `/ssf_streams/${stream.id}/state`
    const { body } = await streams.call<State>(`${url}?cursor=${first}`)
    expect(body.subjects).toHaveLength(1)
    const refused = await streams.call<{ code: string }>(`${url}?cursor=../x`)
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_cursor'])
    expect((await streams.call('/ssf_streams/999999/state')).status).toBe(404)
  })
})

describe('POST /ssf_streams/{id}/replay', () => {
  it('sends the same events again from a number, an event or a time on', async () => {
    const stream = await createStream()
    const device = await insertDevice(streams.db)
    await turn(device, 'not-compliant')
    await turn(device, 'compliant')
    const at = streams.clock.now()
    await turn(device, 'not-compliant')
    const told = await poll(stream)
    await acknowledge(stream, told)
    expect(await poll(stream)).toEqual([])

    const byNumber = await replay(stream, { from_sequence: 2 })
    expect([byNumber.status, byNumber.body]).toEqual([
      202,
      { queued: 2, first_sequence: 2, last_sequence: 3, complete: true },
    ])
    expect(await poll(stream)).toEqual(told.slice(1))
    await acknowledge(stream, told)

    expect((await replay(stream, { from_jti: told[0]?.jti })).body).toMatchObject({ queued: 2 })
    await acknowledge(stream, told)
    const fromTime = Math.floor(at.getTime() / SECOND_MS)
    expect((await replay(stream, { from_time: fromTime })).body).toMatchObject({
      queued: 1,
      complete: true,
    })
    expect(await poll(stream)).toEqual(told.slice(2))
  })

  it('comes before what happened later to the same device', async () => {
    const stream = await createStream()
    const device = await insertDevice(streams.db)
    await turn(device, 'not-compliant')
    await acknowledge(stream, await poll(stream))
    await turn(device, 'compliant')
    await replay(stream, { from_sequence: 1 })
    expect((await poll(stream)).map(word)).toEqual(['not-compliant', 'compliant'])
  })

  it('sends the changes of a device in their order, also when a later one began earlier', async () => {
    const stream = await createStream()
    const device = await insertDevice(streams.db)
    await turn(device, 'not-compliant')
    streams.clock.advance(-10 * SECOND_MS)
    await turn(device, 'compliant')
    streams.clock.advance(20 * SECOND_MS)
    const told = await poll(stream)
    await acknowledge(stream, told)
    await replay(stream, { from_sequence: 1 })
    expect(await poll(stream)).toEqual(told)
  })

  it('sends nothing of a type that the stream no longer asks for, and leaves on record what was delivered', async () => {
    const stream = await createStream()
    await turn(await insertDevice(streams.db), 'not-compliant')
    await acknowledge(stream, await poll(stream))
    const payload = { stream_id: stream.stream_id, events_requested: [] }
    await streams.call('/ssf_streams', { method: 'PATCH', payload })
    expect((await replay(stream, { from_sequence: 1 })).status).toBe(409)
    expect(await poll(stream)).toEqual([])
    const states = await streams.db.selectFrom('delivery').select('state').execute()
    expect(states).toEqual([{ state: 'delivered' }])
  })

  it('says when not everything is kept any more', async () => {
    const stream = await createStream()
    const device = await insertDevice(streams.db)
    await turn(device, 'not-compliant')
    await turn(device, 'compliant')
    const [first] = await poll(stream)
    await streams.db
      .deleteFrom('delivery')
      .where('event_id', '=', first?.jti ?? '')
      .execute()
    expect((await replay(stream, { from_sequence: 1 })).body).toMatchObject({ complete: false })
    expect((await replay(stream, { from_sequence: 2 })).body).toMatchObject({ complete: true })
  })

  it('sends nothing whose content is no longer kept, and says so', async () => {
    const stream = await createStream()
    const device = await insertDevice(streams.db)
    await turn(device, 'not-compliant')
    await turn(device, 'compliant')
    const told = await poll(stream)
    await acknowledge(stream, told)
    await streams.db
      .updateTable('delivery')
      .set({ body: '', token: null })
      .where('event_id', '=', told[0]?.jti ?? '')
      .execute()
    for (const place of [{ from_sequence: 1 }, { from_time: 0 }]) {
      expect((await replay(stream, place)).body).toMatchObject({ queued: 1, complete: false })
      expect(await poll(stream)).toEqual(told.slice(1))
      await acknowledge(stream, told)
    }
    expect((await replay(stream, { from_sequence: 2 })).body).toMatchObject({ complete: true })
  })

  it.each([true, false])(
    'says after an event that later ones are no longer kept: numbered %s',
    async (heliograph_sequence) => {
      const stream = await createStream({ heliograph_sequence })
      const device = await insertDevice(streams.db)
      for (const to of ['not-compliant', 'compliant', 'not-compliant'] as const) {
        await turn(device, to)
      }
      const told = await poll(stream)
      await acknowledge(stream, told)
      const from = { from_jti: told[0]?.jti }
      expect((await replay(stream, from)).body).toMatchObject({ complete: true })
      await acknowledge(stream, told)
      streams.clock.advance(200 * DAY_MS)
      await streams.db
        .deleteFrom('delivery')
        .where('event_id', '=', told[1]?.jti ?? '')
        .execute()
      expect((await replay(stream, from)).body).toMatchObject({ queued: 1, complete: false })
    },
  )

  it.each([
    ['nothing', {}, 422],
    ['two places', { from_sequence: 1, from_time: 1 }, 422],
    ['a number below one', { from_sequence: 0 }, 422],
    ['an unknown event', { from_jti: 'x' }, 404],
    ['an event whose name cannot be stored', { from_jti: 'a\0b' }, 404],
  ])('refuses %s', async (_what, payload, status) => {
    const stream = await createStream()
    expect((await replay(stream, payload)).status).toBe(status)
  })

  it('refuses a stream that sends nothing', async () => {
    const stream = await createStream()
    await streams.call(`/ssf_streams/${stream.id}`, {
      method: 'PATCH',
      payload: { enabled: false },
    })
    expect((await replay(stream, { from_sequence: 1 })).status).toBe(409)
  })
})

describe('POST /ssf_streams/{id}/backfill', () => {
  it('tells the last real change of every device once, with its own time and one cause', async () => {
    const times: number[] = []
    const device = await insertDevice(streams.db)
    const other = await insertDevice(streams.db)
    await insertDevice(streams.db)
    await turn(device, 'not-compliant')
    times.push(Math.floor(streams.clock.now().getTime() / SECOND_MS))
    await turn(device, 'compliant')
    times.push(Math.floor(streams.clock.now().getTime() / SECOND_MS))
    await turn(other, 'not-compliant')
    const stream = await createStream()
    const { status, body } = await streams.call<{ txn: string }>(
      `/ssf_streams/${stream.id}/backfill`,
      { method: 'POST' },
    )
    expect(status).toBe(202)
    await runBackfills()
    const told = await poll(stream)
    expect(told.map(word)).toEqual(['compliant', 'not-compliant'])
    expect(told.map((claims) => claims.events[COMPLIANCE]?.event_timestamp)).toEqual(times)
    expect(new Set(told.map(({ txn }) => txn))).toEqual(new Set([body.txn]))
    // What the stream knows already is not told again, whether a backfill told it or the change itself.
    await streams.call(`/ssf_streams/${stream.id}/backfill`, { method: 'POST' })
    await turn(other, 'compliant')
    await runBackfills()
    expect((await poll(stream)).map(word)).toEqual(['compliant', 'not-compliant', 'compliant'])
    await streams.call(`/ssf_streams/${stream.id}/discard`, {
      method: 'POST',
      payload: { event_ids: told.slice(0, 1).map(({ jti }) => jti) },
    })
    await streams.call(`/ssf_streams/${stream.id}/backfill`, { method: 'POST' })
    await runBackfills()
    expect((await poll(stream)).map(word)).toEqual(['not-compliant', 'compliant', 'compliant'])
  })

  it('tells a change that the stream did not ask for, also when the clock was ahead at the one before', async () => {
    const stream = await createStream()
    const device = await insertDevice(streams.db)
    const request = async (...types: string[]) => {
      const payload = { stream_id: stream.stream_id, events_requested: types }
      expect((await streams.call('/ssf_streams', { method: 'PATCH', payload })).status).toBe(200)
    }
    await turn(device, 'not-compliant')
    await acknowledge(stream, await poll(stream))
    await request()
    streams.clock.advance(-DAY_MS)
    await turn(device, 'compliant')
    await request(COMPLIANCE)
    for (const time of ['first', 'second']) {
      await streams.call(`/ssf_streams/${stream.id}/backfill`, { method: 'POST' })
      await runBackfills()
      expect((await poll(stream)).map(word), time).toEqual(['compliant'])
    }
  })

  it('queues nothing for a stream that asks for no compliance changes, also when it ceased to ask meanwhile', async () => {
    await turn(await insertDevice(streams.db), 'not-compliant')
    const stream = await createStream()
    const backfill = () => streams.call(`/ssf_streams/${stream.id}/backfill`, { method: 'POST' })
    expect((await backfill()).status).toBe(202)
    const payload = { stream_id: stream.stream_id, events_requested: [] }
    await streams.call('/ssf_streams', { method: 'PATCH', payload })
    await runBackfills()
    expect(await streams.db.selectFrom('delivery').select('state').execute()).toEqual([])
    expect(await backfill()).toMatchObject({
      status: 409,
      body: { message: 'The stream asks for no compliance changes.' },
    })
  })
})

describe('damping', () => {
  it('never delays bad news, and tells nothing of good news that did not last', async () => {
    const stream = await createStream({ damping_seconds: 60 })
    const device = await insertDevice(streams.db)
    await turn(device, 'not-compliant')
    expect((await poll(stream)).map(word)).toEqual(['not-compliant'])
    await turn(device, 'compliant')
    await turn(device, 'not-compliant')
    expect((await poll(stream)).map(word)).toEqual(['not-compliant'])
    await turn(device, 'compliant')
    await sql`update delivery set next_attempt_at = next_attempt_at - interval '61 s'`.execute(
      streams.db,
    )
    expect((await poll(stream)).map(word)).toEqual(['not-compliant', 'compliant'])
    await turn(device, 'not-compliant')
    expect((await poll(stream)).map(word)).toEqual(['not-compliant', 'compliant', 'not-compliant'])
  })

  it('cancels what turns and returns within one change', async () => {
    const stream = await createStream({ damping_seconds: 60 })
    const device = { id: await insertDevice(streams.db), name: 'd', platform: 'linux' } as const
    await turn(device.id, 'not-compliant')
    const good = { authState: 'Good', compliance: 'compliant' } as const
    const bad = { authState: 'Blocked', compliance: 'not-compliant' } as const
    await streams.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
      for (const [previous, current] of [
        [bad, good],
        [good, bad],
      ] as const) {
        change.recordEvent({
          type: 'device.status_changed',
          device: { ...device, owner: null },
          previous,
          current,
          occurredAt: change.at,
          initiatingEntity: 'policy',
          reasons: [],
        })
      }
    })
    streams.clock.advance(61 * SECOND_MS)
    expect((await poll(stream)).map(word)).toEqual(['not-compliant'])
  })
})
