import { parseSecurityEvent, parseSubjectIdentifier } from '@heliograph/ssf'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { insertDevice, insertPerson } from '../../../test/support/factories.ts'
import { insertApplication, inOrder } from '../../../test/support/sign-in-fixtures.ts'
import { createStandardApi, type StandardApi } from '../../../test/support/standard-api.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { newSecret, newUuid } from '../../platform/ids.ts'
import type { StreamId } from '../../schema/branded-ids.ts'
import { pairwiseSecretContext } from '../streams/stream-choices.ts'
import { endSession } from '../../sign-in/sessions/end-sessions.ts'

const COMPLIANCE = 'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change'
const SESSION = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked'
const ISSUER = 'https://trust.example.com/ssf'

let api: StandardApi
let deviceId: string
let person: { readonly id: string; readonly email: string }

beforeAll(async () => {
  api = await createStandardApi()
})
afterAll(() => api.close())
beforeEach(async () => {
  await api.db.deleteFrom('ssf_stream').execute()
  const email = `ada.${newSecret(4)}@example.com`
  person = { id: await insertPerson(api.db, { email }), email }
  deviceId = await insertDevice(api.db, { ...inOrder(), owner_person_id: person.id })
})

async function createStream(events: readonly string[]): Promise<string> {
  const { body } = await api.call<{ stream_id: string }>('/ssf/streams', {
    method: 'POST',
    payload: { events_requested: events },
  })
  return body.stream_id
}

async function grant(values: { device_id?: string | null; isOwnPages?: boolean } = {}) {
  const { isOwnPages = false, ...others } = values
  const session = { id: newUuid(), sid: newSecret(12) }
  const now = api.clock.now()
  await api.db
    .insertInto('sign_in_granted_session')
    .values({
      ...session,
      application_id: isOwnPages ? null : await insertApplication(api.db),
      ...{ person_id: person.id, device_id: deviceId, assurance: 'live', granted_at: now },
      expires_at: new Date(now.getTime() + 3_600_000),
      ...others,
    })
    .execute()
  return session
}

async function end(id: string, reason: 'admin' | 'logout' = 'admin'): Promise<void> {
  await api.runChange({ actor: SYSTEM_ACTOR }, async (change) => endSession(change, id, reason))
}

interface Claims {
  readonly sub_id: Readonly<Record<string, unknown>>
  readonly events: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

async function queued(streamId: string): Promise<Claims[]> {
  const rows = await api.db
    .selectFrom('delivery as d')
    .innerJoin('ssf_stream as s', 's.destination_id', 'd.destination_id')
    .select('d.body')
    .where('s.stream_id', '=', streamId as StreamId)
    .orderBy('d.id')
    .execute()
  return rows.map(({ body }) => JSON.parse(body) as Claims)
}

it('tells the streams that asked of the end of a session, its person and its device', async () => {
  const asking = await createStream([SESSION])
  const other = await createStream([COMPLIANCE])
  const { id, sid } = await grant()
  await end(id)
  const [claims, ...more] = await queued(asking)
  expect(more).toEqual([])
  expect(claims?.sub_id).toEqual({
    format: 'complex',
    session: { format: 'opaque', id: sid },
    user: { format: 'email', email: person.email },
    device: { format: 'iss_sub', iss: ISSUER, sub: deviceId },
    tenant: { format: 'opaque', id: 'trust.example.com' },
  })
  expect(parseSubjectIdentifier(claims?.sub_id)).toMatchObject({ ok: true })
  const payload = claims?.events[SESSION] ?? {}
  expect(payload).toEqual({
    event_timestamp: Math.floor(api.clock.now().getTime() / 1000),
    initiating_entity: 'admin',
    reason_admin: { en: 'An admin ended the session.' },
    reason_user: { en: 'An admin ended your session.' },
  })
  expect(parseSecurityEvent(SESSION, payload)).toMatchObject({ ok: true })
  expect(await queued(other)).toEqual([])
})

it('tells in the change in which a device is blocked, beside its compliance', async () => {
  const stream = await createStream([SESSION, COMPLIANCE])
  await grant()
  const { email, id: personId } = person
  await api.runChange({ actor: SYSTEM_ACTOR }, async (change) =>
    change.recordEvent({
      type: 'device.status_changed',
      device: { id: deviceId, name: 'x', platform: 'darwin', owner: { personId, email } },
      previous: { authState: 'Good', compliance: 'compliant' },
      current: { authState: 'Blocked', compliance: 'not-compliant' },
      occurredAt: api.clock.now(),
      initiatingEntity: 'policy',
      reasons: [],
    }),
  )
  const told = await queued(stream)
  expect(told.flatMap(({ events }) => Object.keys(events)).toSorted()).toEqual([
    COMPLIANCE,
    SESSION,
  ])
  const revoked = told.find(({ events }) => SESSION in events)
  expect(revoked?.events[SESSION]).toMatchObject({ initiating_entity: 'policy' })
})

it('says that the person has signed out, and names no device where none had to be proven', async () => {
  const stream = await createStream([SESSION])
  const { id } = await grant({ device_id: null })
  await end(id, 'logout')
  const [claims] = await queued(stream)
  expect(claims?.sub_id).not.toHaveProperty('device')
  expect(claims?.events[SESSION]).toMatchObject({ initiating_entity: 'user' })
})

it('keeps the sessions of the own pages to itself', async () => {
  const stream = await createStream([SESSION])
  await end((await grant({ isOwnPages: true })).id)
  expect(await queued(stream)).toEqual([])
})

it('leaves out whom the receiver does not want to hear of', async () => {
  const stream = await createStream([SESSION])
  await api.call('/ssf/subjects:remove', {
    method: 'POST',
    payload: { stream_id: stream, subject: { format: 'email', email: person.email } },
  })
  await end((await grant()).id)
  await end((await grant({ device_id: null })).id)
  expect(await queued(stream)).toEqual([])
})

it('names session, person and device by pairwise identifiers where the stream does', async () => {
  const pairwise = await createStream([SESSION])
  const { stream_id: streamId } = await api.db
    .selectFrom('ssf_stream')
    .select('stream_id')
    .executeTakeFirstOrThrow()
  const secret = api.sealer.seal('secret', pairwiseSecretContext(streamId))
  await api.db
    .updateTable('ssf_stream')
    .set({ has_pairwise_identifiers: true, pairwise_secret_sealed: secret })
    .execute()
  const { id, sid } = await grant()
  await end(id)
  const text = JSON.stringify(await queued(pairwise))
  expect(text).not.toContain(sid)
  expect(text).not.toContain(person.email)
  expect(text).toContain('"session"')
})
