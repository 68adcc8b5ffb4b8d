import type { StreamRowId } from '../../../schema/branded-ids.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { insertDevice, insertPerson } from '../../../../test/support/factories.ts'
import { createStreamsApi, type StreamsApi } from '../../../../test/support/streams-api.ts'
import { SYSTEM_ACTOR } from '../../../changes/audit/audit-entry.ts'

let streams: StreamsApi
let deviceId: string

beforeAll(async () => {
  streams = await createStreamsApi()
})
afterAll(() => streams.close())
beforeEach(async () => {
  await streams.db.deleteFrom('delivery').execute()
  deviceId = await insertDevice(streams.db)
  await setCompliance('compliant')
})

async function setCompliance(compliance: 'compliant' | 'not-compliant'): Promise<void> {
  await streams.db.updateTable('device').set({ compliance }).where('id', '=', deviceId).execute()
}

const createStream = (payload: object = {}) => streams.createStream({ name: 'asked', ...payload })

interface Explanation {
  readonly would_send: boolean
  readonly outcome: string
  readonly rule: string | null
  readonly reason: string | null
  readonly claims: Record<string, unknown> | null
  readonly test_event_id: string | null
}

const explain = (id: string, payload: object = {}) =>
  streams.call<Explanation>(`/ssf_streams/${id}/explain`, {
    method: 'POST',
    payload: { device_id: deviceId, to: 'not-compliant', ...payload },
  })

const queued = () => streams.db.selectFrom('delivery').select(['body', 'event_type']).execute()

describe('explaining an event', () => {
  it('ssf-5.5: shows the claims of the real event but for what is given when it is queued, and queues nothing', async () => {
    const stream = await createStream()
    const { status, body } = await explain(stream.id)
    expect(status).toBe(200)
    expect(body).toMatchObject({ would_send: true, outcome: 'sent', rule: null })
    expect(await queued()).toEqual([])
    const device = await streams.db
      .selectFrom('device')
      .selectAll()
      .where('id', '=', deviceId)
      .executeTakeFirstOrThrow()
    await streams.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
      change.recordEvent({
        type: 'device.status_changed',
        device: { id: device.id, name: device.name, platform: device.platform, owner: null },
        previous: { authState: device.auth_state, compliance: 'compliant' },
        current: { authState: 'Blocked', compliance: 'not-compliant' },
        occurredAt: change.at,
        initiatingEntity: 'policy',
        reasons: [],
      }),
    )
    const [real] = await streams.db
      .selectFrom('delivery')
      .innerJoin('ssf_stream', 'ssf_stream.destination_id', 'delivery.destination_id')
      .select('body')
      .where('ssf_stream.id', '=', stream.id as StreamRowId)
      .execute()
    const { jti, txn, ...claims } = JSON.parse(real?.body ?? '{}') as Record<string, unknown>
    const { txn: ownTxn, ...shown } = body.claims ?? {}
    expect([typeof jti, typeof txn, typeof ownTxn]).toEqual(['string', 'string', 'string'])
    expect(shown).toEqual(claims)
  })

  it('names the rule that stops the event', async () => {
    const stream = await createStream()
    expect((await explain(stream.id, { to: 'compliant' })).body).toMatchObject({
      would_send: false,
      outcome: 'stopped',
      rule: 'word_unchanged',
      claims: null,
    })
    const byEmail = await createStream({ subject_form: 'email' })
    expect((await explain(byEmail.id)).body).toMatchObject({ rule: 'no_owner' })
    const person = await insertPerson(streams.db)
    await streams.db
      .updateTable('device')
      .set({ owner_person_id: person })
      .where('id', '=', deviceId)
      .execute()
    expect((await explain(byEmail.id)).body).toMatchObject({ outcome: 'sent' })
    await streams.db
      .updateTable('ssf_stream')
      .set({ default_subjects: 'NONE' })
      .where('id', '=', byEmail.id as StreamRowId)
      .execute()
    expect((await explain(byEmail.id)).body).toMatchObject({ rule: 'subject_not_included' })
    await streams.db
      .updateTable('ssf_stream')
      .set({ events_requested: [] })
      .where('id', '=', stream.id as StreamRowId)
      .execute()
    expect((await explain(stream.id)).body).toMatchObject({ rule: 'event_not_requested' })
    await streams.call(`/ssf_streams/${stream.id}`, {
      method: 'PATCH',
      payload: { enabled: false },
    })
    const disabled = (await explain(stream.id)).body
    expect(disabled).toMatchObject({ rule: 'stream_disabled' })
    expect(disabled.reason).toMatch(/disabled/)
  })

  it('tells what is held by a paused stream and what is delayed by damping', async () => {
    const stream = await createStream()
    await streams.db
      .updateTable('ssf_stream')
      .set({ damping_seconds: 60 })
      .where('id', '=', stream.id as StreamRowId)
      .execute()
    await setCompliance('not-compliant')
    expect((await explain(stream.id, { to: 'compliant' })).body).toMatchObject({
      outcome: 'delayed',
      due_at: new Date(streams.clock.now().getTime() + 60_000).toISOString(),
    })
    await streams.call('/ssf_streams/status', {
      method: 'POST',
      payload: { stream_id: stream.stream_id, status: 'paused' },
    })
    await setCompliance('compliant')
    expect((await explain(stream.id)).body).toMatchObject({ outcome: 'held', would_send: true })
  })

  it('sends a test event that is marked as one when asked to, and audits it', async () => {
    const stream = await createStream()
    const { body } = await explain(stream.id, { send: true })
    const rows = await queued()
    expect(rows).toHaveLength(1)
    expect(JSON.parse(rows[0]?.body ?? '')).toMatchObject({
      jti: body.test_event_id,
      events: { 'https://schemas.openid.net/secevent/ssf/event-type/verification': {} },
      test: { kind: 'explain', device_id: deviceId, to: 'not-compliant' },
    })
    const [entry] = await streams.db
      .selectFrom('audit_entry')
      .select('after')
      .where('action', '=', 'ssf_stream.tested')
      .where('target_id', '=', stream.id)
      .execute()
    expect(entry?.after).toMatchObject({ event_id: body.test_event_id, device_id: deviceId })
    await streams.call(`/ssf_streams/${stream.id}`, {
      method: 'PATCH',
      payload: { enabled: false },
    })
    expect(await explain(stream.id, { send: true })).toMatchObject({ status: 409 })
  })

  it('is refused for what does not exist, is not valid, or is not allowed', async () => {
    const stream = await createStream()
    expect(await explain('4711')).toMatchObject({ status: 404 })
    expect(await explain(stream.id, { device_id: '4711' })).toMatchObject({ status: 404 })
    expect(await explain(stream.id, { device_id: 'x' })).toMatchObject({ status: 404 })
    expect(await explain(stream.id, { to: 'good' })).toMatchObject({ status: 422 })
    expect(await explain(stream.id, { extra: 1 })).toMatchObject({ status: 422 })
    const path = `/ssf_streams/${stream.id}/explain`
    const payload = { device_id: deviceId, to: 'compliant' }
    expect(await streams.api.request(path, { method: 'POST', payload })).toMatchObject({
      status: 403,
    })
    expect(await streams.api.request(path, { method: 'POST', payload, key: null })).toMatchObject({
      status: 401,
    })
  })
})
