import type { StreamId } from '../../schema/branded-ids.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestRefusal } from '../../../test/support/api-app.ts'
import { createStandardApi, type StandardApi } from '../../../test/support/standard-api.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { DeviceStatusChange } from '../../changes/domain-event.ts'

const COMPLIANCE = 'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change'
const ISSUER = 'https://trust.example.com/ssf'

let api: StandardApi
let id: string

beforeAll(async () => {
  api = await createStandardApi({ subjectsMax: 3 })
})
afterAll(() => api.close())
beforeEach(async () => {
  id = await createStream()
})

async function createStream(token?: string): Promise<string> {
  const { body } = await api.call<{ stream_id: string }>('/ssf/streams', {
    method: 'POST',
    payload: { events_requested: [COMPLIANCE] },
    ...(token === undefined ? {} : { token }),
  })
  return body.stream_id
}

const ada = { format: 'email', email: 'ada@example.com' }
const device = (sub: string) => ({ format: 'iss_sub', iss: ISSUER, sub })

async function say(operation: 'add' | 'remove', subject: unknown, token?: string) {
  return api.call<TestRefusal>(`/ssf/subjects:${operation}`, {
    method: 'POST',
    payload: { stream_id: id, subject },
    ...(token === undefined ? {} : { token }),
  })
}

/** Devices 1 and 2 belong to Ada, 3 to Bob, 4 to nobody. Answers those whose events were queued. */
async function devicesTold(): Promise<string[]> {
  const owners = ['ada@example.com', 'ada@example.com', 'bob@example.com', null]
  const changes = owners.map((email, index): DeviceStatusChange => ({
    device: {
      id: String(index + 1),
      name: 'a device',
      platform: 'darwin',
      owner: email === null ? null : { personId: String(index), email },
    },
    previous: { authState: 'Good', compliance: 'compliant' },
    current: { authState: 'Blocked', compliance: 'not-compliant' },
    occurredAt: api.clock.now(),
    initiatingEntity: 'policy',
    reasons: [],
  }))
  const before = await queued()
  await api.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    changes.forEach((item) => change.recordEvent({ type: 'device.status_changed', ...item })),
  )
  const after = await queued()
  return after.slice(before.length).map((key) => key.replace('device:', ''))
}

async function subjectCount(): Promise<number> {
  const { subject_count: count } = await api.db
    .selectFrom('ssf_stream')
    .select('subject_count')
    .where('stream_id', '=', id as StreamId)
    .executeTakeFirstOrThrow()
  return count
}

async function queued(): Promise<string[]> {
  const rows = await api.db
    .selectFrom('delivery')
    .innerJoin('ssf_stream', 'ssf_stream.destination_id', 'delivery.destination_id')
    .select('delivery.subject_key')
    .where('ssf_stream.stream_id', '=', id as StreamId)
    .orderBy('delivery.id')
    .execute()
  return rows.map(({ subject_key }) => subject_key ?? '')
}

describe('a stream that begins with all subjects', () => {
  it('ssf-T015 ssf-T099 tells of every device without being asked', async () => {
    expect(await devicesTold()).toEqual(['1', '2', '3', '4'])
  })

  it('ssf-T091 tells no more of what was removed', async () => {
    const { status, body } = await say('remove', ada)
    expect([status, body]).toEqual([204, undefined])
    expect(await devicesTold()).toEqual(['3', '4'])
  })

  it('ssf-T015 ssf-T090 tells again of what was added again, and remembers nothing of it', async () => {
    await say('remove', ada)
    const { status, body } = await say('add', ada)
    expect([status, body]).toEqual([200, undefined])
    expect(await devicesTold()).toEqual(['1', '2', '3', '4'])
    expect(await subjectCount()).toBe(0)
  })

  it('lets the last word about a device decide', async () => {
    await say('remove', ada)
    await say('add', device('2'))
    expect(await devicesTold()).toEqual(['2', '3', '4'])
    await say('remove', ada)
    expect(await devicesTold()).toEqual(['3', '4'])
  })

  it('tells nobody else of what one receiver removed', async () => {
    await say('remove', ada)
    id = await createStream()
    expect(await devicesTold()).toEqual(['1', '2', '3', '4'])
  })

  it.each([
    [device('3'), ['1', '2', '4']],
    [{ format: 'opaque', id: '3' }, ['1', '2', '4']],
    [{ format: 'complex', user: ada, device: device('1') }, ['2', '3', '4']],
    [{ format: 'complex', user: ada, device: device('3') }, ['1', '2', '3', '4']],
    [{ format: 'phone', phone: '+15550100' }, ['1', '2', '3', '4']],
    [{ format: 'phone_number', phone_number: '+15550100' }, ['1', '2', '3', '4']],
  ])('ssf-T043 ssf-T094 takes the removal of %j', async (subject, told) => {
    expect((await say('remove', subject)).status).toBe(204)
    expect(await devicesTold()).toEqual(told)
  })
})

describe('a stream that begins with no subjects', () => {
  let token: string

  beforeEach(async () => {
    token = await api.newToken(await api.newClient({ defaultSubjects: 'NONE' }))
    id = await createStream(token)
  })

  it('ssf-T015 tells of added subjects alone', async () => {
    expect(await devicesTold()).toEqual([])
    await say('add', ada, token)
    expect(await devicesTold()).toEqual(['1', '2'])
    await say('remove', device('1'), token)
    expect(await devicesTold()).toEqual(['2'])
    await say('remove', ada, token)
    expect(await devicesTold()).toEqual([])
  })
})

describe('requests about subjects', () => {
  it('ssf-T093 are answered alike for subjects that nobody knows', async () => {
    const stranger = { format: 'email', email: 'nobody@example.com' }
    expect((await say('add', stranger)).status).toBe(200)
    expect((await say('remove', stranger)).status).toBe(204)
  })

  it.each([
    undefined,
    'ada@example.com',
    { format: 'email' },
    { format: 'email', email: '' },
    { format: 'email', email: 'ada@example.com', name: 'Ada' },
    { format: 'carrier_pigeon', id: '1' },
    { format: 'complex' },
    { format: 'complex', user: { format: 'complex', user: ada } },
    { format: 'opaque', id: 'a\0b' },
  ])('ssf-T092 refuse the subject %j with 400', async (subject) => {
    expect((await say('add', subject)).status).toBe(400)
    expect((await say('remove', subject)).status).toBe(400)
  })

  it('ssf-T092 answer 404 for unknown streams', async () => {
    id = '00000000-0000-4000-8000-000000000000'
    expect((await say('add', ada)).status).toBe(404)
    expect((await say('remove', ada)).status).toBe(404)
  })

  it('are refused beyond the limit, those about known subjects aside', async () => {
    for (const sub of ['1', '2', '3']) expect((await say('remove', device(sub))).status).toBe(204)
    const { status, body } = await say('remove', device('4'))
    expect([status, body.code]).toEqual([409, 'limit_reached'])
    expect((await say('remove', device('1'))).status).toBe(204)
    expect(await devicesTold()).toEqual(['4'])
  })

  it('ssf-T098 cannot remove the stream itself from its own events', async () => {
    expect((await say('remove', { format: 'opaque', id })).status).toBe(204)
    expect(await subjectCount()).toBe(0)
  })

  it('leave audit entries that do not name the subject', async () => {
    await say('remove', ada)
    const entry = await api.db
      .selectFrom('audit_entry')
      .selectAll()
      .orderBy('sequence', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    expect(entry.action).toBe('ssf_stream.subject_removed')
    expect(JSON.stringify(entry)).not.toContain('ada@example.com')
  })
})
