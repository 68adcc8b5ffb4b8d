import { decodeJwt } from 'jose'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { insertDevice } from '../../../test/support/factories.ts'
import { createStreamsApi, type StreamsApi } from '../../../test/support/streams-api.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { HOUR_MS, SECOND_MS } from '../../platform/clock.ts'
import type { Compliance } from '../../schema/status-values.ts'
import { requestRestatement, restateStreams } from './restate-streams.ts'
import { renewUnnumberedSets } from './sequence-store.ts'

const COMPLIANCE = 'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change'

interface Claims {
  readonly jti: string
  readonly sub_id: { readonly device: { readonly sub: string } }
  readonly events: Record<
    string,
    {
      readonly previous_status: Compliance
      readonly current_status: Compliance
      readonly event_timestamp: number
      readonly reason_admin?: { readonly en: string }
    }
  >
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

const request = () => streams.runChange({ actor: SYSTEM_ACTOR }, requestRestatement)
const restate = () => restateStreams(streams)

/** The time from which devices that do not answer are told of has come. */
const endWaiting = () =>
  streams.db
    .updateTable('ssf_restatement')
    .set({ last_pass_at: new Date(0) })
    .execute()

const answer = (deviceId: string) =>
  streams.db
    .updateTable('device')
    .set({ checks_ran_at: streams.clock.now() })
    .where('id', '=', deviceId)
    .execute()

async function told(stream: { readonly stream_id: string }): Promise<[string, string][]> {
  return (await poll(stream)).map((claims) => [
    claims.sub_id.device.sub,
    claims.events[COMPLIANCE]?.current_status ?? '',
  ])
}

async function poll({ stream_id: id }: { readonly stream_id: string }): Promise<Claims[]> {
  const { body } = await streams.call<{ sets: Record<string, string> }>(
    `/ssf_streams/${id}/events`,
    { method: 'POST', payload: {} },
  )
  return Object.values(body.sets).map((token) => decodeJwt<Claims>(token))
}

it('tells of each device once it has answered its checks again, as it is then', async () => {
  const stream = await streams.createStream({ name: 'restated' })
  const good = await insertDevice(streams.db, { compliance: 'compliant', auth_state: 'Good' })
  const bad = await insertDevice(streams.db)
  for (const device of [good, bad]) await answer(device)
  expect(await request()).toBe(1)
  expect(await restate()).toBeInstanceOf(Date)
  expect(await told(stream)).toEqual([])

  await answer(good)
  await restate()
  expect(await told(stream)).toEqual([[good, 'compliant']])
  await answer(bad)
  await restate()
  await restate()
  expect(await restate()).toBeUndefined()
  expect(await told(stream)).toEqual([
    [good, 'compliant'],
    [bad, 'not-compliant'],
  ])
})

it('tells in the end of devices that do not answer, and of none twice', async () => {
  const stream = await streams.createStream({ name: 'restated' })
  const ids: string[] = []
  for (let count = 0; count < 450; count += 1) ids.push(await insertDevice(streams.db))
  await request()
  await restate()
  await endWaiting()
  while ((await restate()) !== undefined);
  const { rows } = await countTold()
  expect(rows).toEqual(ids.sort((one, other) => Number(one) - Number(other)))
  expect(await streams.db.selectFrom('ssf_restatement').selectAll().execute()).toEqual([])

  async function countTold() {
    const found = await streams.db
      .selectFrom('delivery')
      .select('subject_key')
      .where('destination_id', '=', await streams.getDestinationId(stream.id))
      .orderBy('id')
      .execute()
    return { rows: found.map(({ subject_key: key }) => key?.slice('device:'.length)) }
  }
})

it('leaves out a device whose change was told meanwhile', async () => {
  const stream = await streams.createStream({ name: 'restated' })
  const device = await insertDevice(streams.db, { compliance: 'compliant', auth_state: 'Good' })
  await request()
  streams.clock.advance(SECOND_MS)
  await streams.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    change.recordEvent({
      type: 'device.status_changed',
      device: { id: device, name: 'd', platform: 'linux', owner: null },
      previous: { authState: 'Blocked', compliance: 'not-compliant' },
      current: { authState: 'Good', compliance: 'compliant' },
      occurredAt: change.at,
      initiatingEntity: 'policy',
      reasons: [],
    })
  })
  await endWaiting()
  while ((await restate()) !== undefined);
  expect(await told(stream)).toEqual([[device, 'compliant']])
})

it('tells nobody twice, and waits no longer, when the clock is set back meanwhile', async () => {
  const stream = await streams.createStream({ name: 'restated' })
  const device = await insertDevice(streams.db, { compliance: 'compliant', auth_state: 'Good' })
  const silent = await insertDevice(streams.db)
  await answer(silent)
  await request()
  await answer(device)
  await restate()
  await restate()
  streams.clock.advance(-6 * HOUR_MS)
  await streams.db
    .updateTable('ssf_restatement')
    .set({ last_pass_at: new Date(Date.now() + 6 * HOUR_MS) })
    .execute()
  while ((await restate()) !== undefined);
  streams.clock.advance(6 * HOUR_MS)
  expect(await told(stream)).toEqual([
    [device, 'compliant'],
    [silent, 'not-compliant'],
  ])
})

it('says that nothing changed, with the time at which it is told', async () => {
  const stream = await streams.createStream({ name: 'restated' })
  const device = await insertDevice(streams.db, { compliance: 'compliant', auth_state: 'Good' })
  await request()
  await answer(device)
  streams.clock.advance(60 * SECOND_MS)
  await restate()
  const [claims] = await poll(stream)
  expect(claims?.events[COMPLIANCE]).toMatchObject({
    previous_status: 'not-compliant',
    current_status: 'compliant',
    event_timestamp: Math.floor(streams.clock.now().getTime() / SECOND_MS),
  })
  expect(claims?.events[COMPLIANCE]?.reason_admin?.en).toMatch(/told anew, because the database/)
})

it('begins again when it is asked for again, and passes disabled streams over', async () => {
  const stream = await streams.createStream({ name: 'restated' })
  const disabled = await streams.createStream({ name: 'disabled' })
  await streams.call(`/ssf_streams/${disabled.id}`, {
    method: 'PATCH',
    payload: { enabled: false },
  })
  const device = await insertDevice(streams.db)
  expect(await request()).toBe(1)
  await answer(device)
  await restate()
  streams.clock.advance(SECOND_MS)
  expect(await request()).toBe(1)
  await answer(device)
  while ((await restate()) !== undefined);
  expect(await told(stream)).toEqual([
    [device, 'not-compliant'],
    [device, 'not-compliant'],
  ])
})

it('rests while its stream asks for no compliance changes, and then tells what was given up with the rest', async () => {
  const stream = await streams.createStream({ name: 'restated' })
  const ask = async (types: readonly string[]) => {
    const payload = { stream_id: stream.stream_id, events_requested: types }
    const { status } = await streams.call('/ssf_streams', { method: 'PATCH', payload })
    expect(status).toBe(200)
  }
  const devices = [await insertDevice(streams.db), await insertDevice(streams.db)]
  await request()
  await answer(devices[0] ?? '')
  expect(await restate()).toBeInstanceOf(Date)
  await ask([])
  // As in the midst of the last pass.
  const inLastPass = {
    last_pass_at: new Date(0),
    is_last_pass: true,
    after_device_id: devices[0] ?? '',
  }
  await streams.db.updateTable('ssf_restatement').set(inLastPass).execute()
  expect(await restate()).toBeUndefined()
  const { rows: states } = await sql`select state from delivery`.execute(streams.db)
  expect(states).toEqual([{ state: 'discarded' }])
  await ask([COMPLIANCE])
  while ((await restate()) !== undefined);
  expect(await told(stream)).toEqual(devices.map((device) => [device, 'not-compliant']))
})

it('is asked for in statements of bounded size, however many devices and events there are', async () => {
  const run = <Row>(text: string) => sql.raw<Row>(text).execute(streams.db)
  const stream = await streams.createStream({ name: 'restated', heliograph_sequence: true })
  await run(`
    insert into device (host_identifier, name, platform, checks_ran_at, created_at, updated_at)
      select 'bulk-' || n, 'bulk', 'linux', now(), now(), now() from generate_series(1, 2500) n;
    create table statement_size (rows bigint);
    create function note_size() returns trigger language plpgsql as
      $$ begin insert into statement_size select count(*) from changed; return null; end $$;
    create trigger note_size after update on device referencing new table as changed
      for each statement execute function note_size();
    create trigger note_size after update on delivery referencing new table as changed
      for each statement execute function note_size()`)
  await run(
    `insert into delivery (destination_id, event_id, event_type, body, state, next_attempt_at, txn, created_at)
      select ${await streams.getDestinationId(stream.id)}, 'event-' || n, 'test', '{}', 'queued', now(), 'txn', now()
      from generate_series(1, 2500) n`,
  )
  await streams.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    await renewUnnumberedSets(change.tx)
    await requestRestatement(change)
  })
  const { rows } = await run<{ most: string; all: string }>(
    'select max(rows) as most, sum(rows) as all from statement_size',
  )
  expect(Number(rows[0]?.all)).toBe(5_000)
  expect(Number(rows[0]?.most)).toBeLessThanOrEqual(1_000)
  await run('drop function note_size cascade; drop table statement_size')
})
