import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestRefusal } from '../../../test/support/api-app.ts'
import { insertDevice, insertPerson } from '../../../test/support/factories.ts'
import { createStreamsApi, type StreamsApi } from '../../../test/support/streams-api.ts'
import type { StreamRowId } from '../../schema/branded-ids.ts'

const ISSUER = 'https://trust.example.com'

let streams: StreamsApi
let id: string
let deviceId: string

beforeAll(async () => {
  streams = await createStreamsApi()
})
afterAll(() => streams.close())
beforeEach(async () => {
  await streams.clear()
  id = (await streams.createStream({ name: 'Gateway' })).id
  deviceId = await insertDevice(streams.db, { name: 'Laptop of Ada' })
})

interface SubjectList {
  readonly data: readonly {
    readonly id: string
    readonly subject: Record<string, unknown>
    readonly included: boolean
    readonly device: { readonly id: string; readonly name: string } | null
    readonly person: { readonly id: string; readonly name: string } | null
  }[]
  readonly pagination: { readonly next_cursor: string }
}

const list = async (search = '') =>
  (await streams.call<SubjectList>(`/ssf_streams/${id}/subjects${search}`)).body

const say = (operation: 'add' | 'remove', payload: object, of = id) =>
  streams.call<TestRefusal>(`/ssf_streams/${of}/${operation}_subject`, { method: 'POST', payload })

/** Whether the stream would tell of the device, and if not, why. */
async function explain(): Promise<string> {
  await streams.db
    .updateTable('device')
    .set({ compliance: 'compliant' })
    .where('id', '=', deviceId)
    .execute()
  const payload = { device_id: deviceId, to: 'not-compliant' }
  const { body } = await streams.call<{ outcome: string; rule: string | null }>(
    `/ssf_streams/${id}/explain`,
    { method: 'POST', payload },
  )
  return body.rule ?? body.outcome
}

async function beginWithNone(): Promise<void> {
  await streams.db
    .updateTable('ssf_stream')
    .set({ default_subjects: 'NONE' })
    .where('id', '=', id as StreamRowId)
    .execute()
}

describe('removing and adding devices', () => {
  it('stops events about a device, and lets them go on', async () => {
    expect(await explain()).toBe('sent')
    const { status, body } = await say('remove', { device_id: deviceId })
    expect([status, body]).toEqual([204, undefined])
    expect(await explain()).toBe('subject_not_included')
    expect((await list()).data).toEqual([
      {
        id: expect.any(String) as string,
        subject: { format: 'iss_sub', iss: ISSUER, sub: deviceId },
        included: false,
        verified: true,
        device: { id: deviceId, name: 'Laptop of Ada' },
        person: null,
        created_at: '2026-01-02T03:04:05.678Z',
      },
    ])
    expect((await say('add', { device_id: deviceId })).status).toBe(204)
    expect(await explain()).toBe('sent')
    expect((await list()).data).toEqual([])
  })

  it('tells of what was added alone where a stream begins with none', async () => {
    await beginWithNone()
    expect(await explain()).toBe('subject_not_included')
    await say('add', { device_id: deviceId })
    expect(await explain()).toBe('sent')
    expect((await list()).data).toMatchObject([{ included: true, device: { id: deviceId } }])
  })

  it.each([{ opaque_identifiers: true }, { pairwise_identifiers: true, reason_details: [] }])(
    'names a device as the stream with %j does',
    async (choices) => {
      id = (await streams.createStream({ name: 'Named otherwise', ...choices })).id
      await say('remove', { device_id: deviceId })
      expect(await explain()).toBe('subject_not_included')
      const isPairwise = 'pairwise_identifiers' in choices
      const known = isPairwise ? null : { id: deviceId, name: 'Laptop of Ada' }
      const [said] = (await list()).data
      expect(said?.device).toEqual(known)
      expect(Object.values(said?.subject ?? {}).includes(deviceId)).toBe(!isPairwise)
    },
  )
})

describe('removing people', () => {
  it('stops events about every device of theirs', async () => {
    const personId = await insertPerson(streams.db, { name: 'Ada', email: 'Ada@Example.com' })
    await streams.db
      .updateTable('device')
      .set({ owner_person_id: personId })
      .where('id', '=', deviceId)
      .execute()
    await say('remove', { person_id: personId })
    expect(await explain()).toBe('subject_not_included')
    expect((await list()).data).toMatchObject([{ person: { id: personId, name: 'Ada' } }])
    // The last word about an event decides.
    await say('add', { device_id: deviceId })
    expect(await explain()).toBe('sent')
  })

  it('is refused for people whom events cannot name', async () => {
    const personId = await insertPerson(streams.db, { email: 'nobody' })
    const { status, body } = await say('remove', { person_id: personId })
    expect([status, body.details?.map(({ path }) => path)]).toEqual([422, ['person_id']])
  })
})

describe('what is said of a subject', () => {
  it('takes identifiers of which this service knows nobody', async () => {
    const subject = { format: 'phone_number', phone_number: '+15550100' }
    expect((await say('remove', { subject })).status).toBe(204)
    expect((await list()).data).toMatchObject([{ subject, device: null, person: null }])
  })

  it('reads the members of a complex one', async () => {
    const personId = await insertPerson(streams.db, { email: 'grace@example.com' })
    const device = { format: 'opaque', id: deviceId }
    const user = { format: 'email', email: 'grace@example.com' }
    await say('remove', { subject: { format: 'complex', device, user } })
    expect((await list()).data).toMatchObject([
      { device: { id: deviceId }, person: { id: personId } },
    ])
  })

  it('does not take a device of another issuer for its own', async () => {
    const subject = { format: 'iss_sub', iss: 'https://other.example.com', sub: deviceId }
    await say('remove', { subject })
    expect((await list()).data).toMatchObject([{ device: null }])
  })

  it('is listed in pages, oldest word first', async () => {
    const ids: string[] = []
    for (let count = 0; count < 3; count += 1) {
      ids.push(await insertDevice(streams.db))
      await say('remove', { device_id: ids.at(-1) })
    }
    const first = await list('?per_page=2')
    const second = await list(`?per_page=2&cursor=${first.pagination.next_cursor}`)
    const shown = [...first.data, ...second.data].map(({ device }) => device?.id)
    expect(shown).toEqual(ids)
    expect(second.pagination.next_cursor).toBe('')
  })

  it('is refused beyond the limit of the stream', async () => {
    const rows = Array.from({ length: 100 }, (_, index) => ({ format: 'opaque', id: `a${index}` }))
    for (const subject of rows) expect((await say('remove', { subject })).status).toBe(204)
    const { status, body } = await say('remove', { device_id: deviceId })
    expect([status, body.code]).toEqual([409, 'limit_reached'])
  })

  it('leaves an entry in the audit log', async () => {
    await say('remove', { device_id: deviceId })
    const entry = await streams.db
      .selectFrom('audit_entry')
      .selectAll()
      .orderBy('sequence', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    expect([entry.action, entry.target_id]).toEqual(['ssf_stream.subject_removed', id])
  })

  it.each([
    {},
    { device_id: '1', person_id: '1' },
    { subject: { format: 'email' } },
    { subject: { format: 'carrier_pigeon', id: '1' } },
    { device_id: '' },
    { stream_id: '1' },
  ])('refuses the body %j', async (payload) => {
    expect((await say('add', payload)).status).toBe(422)
    expect((await say('remove', payload)).status).toBe(422)
  })

  it('knows no device, person or stream that does not exist', async () => {
    expect((await say('add', { device_id: '999999' })).status).toBe(404)
    expect((await say('add', { person_id: 'x' })).status).toBe(404)
    expect((await say('add', { device_id: deviceId }, '999999')).status).toBe(404)
    id = '999999'
    expect((await streams.call(`/ssf_streams/${id}/subjects`)).status).toBe(404)
  })
})
