import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  BASE_URL,
  createTestApi,
  type TestApi,
  type TestRefusal,
} from '../../../test/support/api-app.ts'
import { insertDevice, insertPerson, insertPersonGroup } from '../../../test/support/factories.ts'
import {
  countAuditEntries,
  describeWriteContract,
  lastAuditEntry,
} from '../../../test/support/write-contract.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { newSecret } from '../../platform/ids.ts'
import { deviceRoutes } from './device-routes.ts'
import { deviceWriteRoutes } from './device-write-routes.ts'
import { emptyTables } from '../../../test/support/empty-tables.ts'

const DELAY_SECONDS = 600
const REGISTERED_AT = '2026-01-01T00:00:00.001Z'

let api: TestApi
let keys: { update: string; remove: string }
let owner: string
let device: string

beforeAll(async () => {
  api = await createTestApi(({ db, runChange }) => [
    ...deviceRoutes(db, BASE_URL),
    ...deviceWriteRoutes({
      baseUrl: BASE_URL,
      runChange,
      deviceDeletionDelaySeconds: DELAY_SECONDS,
    }),
  ])
  keys = {
    update: await api.createKey(['Update Devices']),
    remove: await api.createKey(['Remove Devices']),
  }
})
afterAll(() => api.close())
beforeEach(async () => {
  await emptyTables(api.db, 'device', 'person', 'person_group', 'removed_host')
  owner = await insertPerson(api.db, {
    email: 'ada@example.com',
    first_device_trusted_at: new Date(REGISTERED_AT),
  })
  device = await insertOwnedDevice()
})

const insertOwnedDevice = (values: object = {}) =>
  insertDevice(api.db, {
    name: 'mac-1',
    owner_person_id: owner,
    registered_at: new Date(REGISTERED_AT),
    node_key_hash: Buffer.from(newSecret(24)).subarray(0, 32),
    ...values,
  })

const send = <Body = TestRefusal>(
  method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
  url: string,
  payload?: object,
) =>
  api.request<Body>(url, {
    method,
    key: method === 'PATCH' || method === 'PUT' ? keys.update : keys.remove,
    ...(payload === undefined ? {} : { payload }),
  })

const show = async (id = device) =>
  (await api.request<Record<string, unknown>>(`/devices/${id}`)).body
const readDevice = (id = device) =>
  api.db.selectFrom('device').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const firstTrust = async () => {
  const row = await api.db
    .selectFrom('person')
    .select('first_device_trusted_at')
    .where('id', '=', owner)
    .executeTakeFirstOrThrow()
  return row.first_device_trusted_at
}

const missingPaths = (suffix: string) =>
  ['999', 'abc', '9'.repeat(40)].map((id) => `/devices/${id}${suffix}`)

describe('PATCH /devices/{id}', () => {
  const url = () => `/devices/${device}`

  describeWriteContract({
    api: () => api,
    method: 'PATCH',
    path: url,
    payload: () => ({ note: 'Spare laptop' }),
    permission: 'Update Devices',
    missingPaths: () => missingPaths(''),
  })

  it('keeps the note, shows it with the device, and writes what it was before', async () => {
    const answer = await send('PATCH', url(), { note: 'Spare **laptop**' })
    expect(answer).toMatchObject({ status: 200, body: { id: device, note: 'Spare **laptop**' } })
    expect(await show()).toEqual(answer.body)
    await send('PUT', url(), { note: 'Ada has it' })
    expect(await lastAuditEntry(api)).toMatchObject({
      action: 'device.note_changed',
      target_id: device,
      before: { note: 'Spare **laptop**' },
      after: { note: 'Ada has it' },
    })
  })

  it('writes nothing for the same note, and removes it for a blank one and for null', async () => {
    await send('PATCH', url(), { note: 'one' })
    const count = await countAuditEntries(api)
    expect((await send('PATCH', url(), { note: 'one' })).status).toBe(200)
    expect(await countAuditEntries(api)).toBe(count)
    for (const note of [' \n', null]) {
      expect(await send('PATCH', url(), { note })).toMatchObject({ body: { note: null } })
      await send('PATCH', url(), { note: 'again' })
    }
  })

  it.each([[{}], [{ note: 7 }], [{ note: 'x'.repeat(10_001) }]])(
    'refuses what is no note',
    async (payload) => {
      const { status, body } = await send('PATCH', url(), payload)
      expect([status, body.code]).toEqual([422, 'invalid_body'])
      expect(body.details?.map(({ path }) => path)).toEqual(['note'])
    },
  )
})

describe('PATCH /devices/{id}/authentication_mode', () => {
  const url = () => `/devices/${device}/authentication_mode`

  describeWriteContract({
    api: () => api,
    method: 'PATCH',
    path: url,
    payload: () => ({ authentication_mode: 'anyone' }),
    permission: 'Update Devices',
    missingPaths: () => missingPaths('/authentication_mode'),
  })

  it('lets members of groups sign in, and shows the groups with the device', async () => {
    const [sales, support] = [
      await insertPersonGroup(api.db, { name: 'Sales' }),
      await insertPersonGroup(api.db, { name: 'Support' }),
    ]
    const groups = [
      { id: sales, name: 'Sales' },
      { id: support, name: 'Support' },
    ]
    const answer = await send('PATCH', url(), {
      authentication_mode: 'only_registered_owner_or_group_members',
      person_group_ids: [Number(support), sales],
    })
    const expected = {
      device_id: device,
      authentication_mode: 'only_registered_owner_or_group_members',
      person_groups: groups,
    }
    expect(answer).toMatchObject({ status: 200, body: expected })
    expect((await show())['auth_configuration']).toEqual(expected)
    expect(await lastAuditEntry(api)).toMatchObject({
      action: 'device.authentication_mode_changed',
      target_id: device,
      before: { authentication_mode: 'only_registered_owner', person_group_ids: [] },
      after: { person_group_ids: [sales, support] },
    })
  })

  it('keeps the groups when none are given, replaces them, and forgets them in another mode', async () => {
    const [sales, support] = [await insertPersonGroup(api.db), await insertPersonGroup(api.db)]
    const mode = { authentication_mode: 'only_registered_owner_or_group_members' }
    type Answer = { person_groups: { id: string }[] }
    const groupsAfter = async (payload: object) =>
      (await send<Answer>('PUT', url(), payload)).body.person_groups.map(({ id }) => id)
    expect(await groupsAfter({ ...mode, person_group_ids: [sales] })).toEqual([sales])
    const count = await countAuditEntries(api)
    expect(await groupsAfter(mode)).toEqual([sales])
    expect(await countAuditEntries(api)).toBe(count)
    expect(await groupsAfter({ ...mode, person_group_ids: [support] })).toEqual([support])
    expect(await groupsAfter({ authentication_mode: 'anyone', person_group_ids: ['999'] })).toEqual(
      [],
    )
    expect(await groupsAfter(mode)).toEqual([])
  })

  it.each([
    [{}, 'authentication_mode'],
    [{ authentication_mode: 'nobody' }, 'authentication_mode'],
    [{ authentication_mode: 'anyone', mode: 1 }, 'mode'],
    [{ authentication_mode: 'anyone', person_group_ids: 'all' }, 'person_group_ids'],
  ])('refuses %j', async (payload, path) => {
    const { status, body } = await send('PATCH', url(), payload)
    expect([status, body.code]).toEqual([422, 'invalid_body'])
    expect(body.details?.map((detail) => detail.path)).toContain(path)
  })

  it('refuses groups that do not exist, names each, and changes nothing', async () => {
    const sales = await insertPersonGroup(api.db)
    const { status, body } = await send('PATCH', url(), {
      authentication_mode: 'only_registered_owner_or_group_members',
      person_group_ids: [sales, '999', 'abc', '9'.repeat(40)],
    })
    expect([status, body.code]).toEqual([422, 'invalid_body'])
    expect(body.details?.map(({ path }) => path)).toEqual([
      'person_group_ids.1',
      'person_group_ids.2',
      'person_group_ids.3',
    ])
    expect(await show()).toMatchObject({
      auth_configuration: { authentication_mode: 'only_registered_owner', person_groups: [] },
    })
  })
})

describe('DELETE /devices/{id}/registration', () => {
  const url = (id = device) => `/devices/${id}/registration`

  describeWriteContract({
    api: () => api,
    method: 'DELETE',
    path: url,
    permission: 'Remove Devices',
    missingPaths: () => missingPaths('/registration'),
  })

  it('ends it, answers what it was, and lets the next device of the owner be trusted', async () => {
    const answer = await send('DELETE', url())
    expect(answer).toMatchObject({
      status: 200,
      body: {
        device_id: device,
        registered_at: REGISTERED_AT,
        registered_owner_info: { identifier: owner, link: `${BASE_URL}/people/${owner}` },
        device_info: { identifier: device, link: `${BASE_URL}/devices/${device}` },
      },
    })
    expect(await show()).toMatchObject({
      registered_at: null,
      registered_owner_info: { identifier: '', link: null },
      auth_configuration: null,
    })
    expect(await firstTrust()).toBeNull()
    expect(await lastAuditEntry(api, 'device.unregistered')).toMatchObject({
      before: { owner_email: 'ada@example.com' },
      after: { owner_email: null },
    })
    expect(await lastAuditEntry(api, 'person.first_device_trust_reset')).toMatchObject({
      target_id: owner,
    })
    expect((await send('DELETE', url())).status).toBe(404)
  })

  it('leaves the trust of an owner with another device as it is', async () => {
    await insertOwnedDevice()
    await send('DELETE', url())
    expect(await firstTrust()).toEqual(new Date(REGISTERED_AT))
  })

  it('forgets who else could sign in', async () => {
    await send('PATCH', `/devices/${device}/authentication_mode`, { authentication_mode: 'anyone' })
    await send('DELETE', url())
    expect((await readDevice()).authentication_mode).toBe('only_registered_owner')
  })

  it('deletes a mobile device with it', async () => {
    const phone = await insertOwnedDevice({ platform: 'ios', form_factor: 'phone' })
    expect((await send('DELETE', url(phone))).status).toBe(200)
    expect((await api.request(`/devices/${phone}`)).status).toBe(404)
    expect(await lastAuditEntry(api, 'device.deleted')).toMatchObject({ target_id: phone })
  })
})

describe('DELETE /devices/{id}', () => {
  const url = (id = device) => `/devices/${id}`

  describeWriteContract({
    api: () => api,
    method: 'DELETE',
    path: url,
    permission: 'Remove Devices',
    missingPaths: () => missingPaths(''),
  })

  it('marks the device, disables its agent and answers it with the time of its deletion', async () => {
    const dueAt = new Date(api.clock.now().getTime() + DELAY_SECONDS * 1000)
    const answer = await send('DELETE', url())
    expect(answer).toMatchObject({
      status: 200,
      body: { id: device, name: 'mac-1', deletion_due_at: dueAt.toISOString() },
    })
    expect(await show()).toEqual(answer.body)
    expect(await readDevice()).toMatchObject({
      node_key_hash: null,
      agent_disabled_at: api.clock.now(),
    })
    expect(await firstTrust()).toBeNull()
    expect(await lastAuditEntry(api, 'device.deletion_requested')).toMatchObject({
      target_id: device,
      before: { deletion_due_at: null },
      after: { deletion_due_at: dueAt.toISOString() },
    })
  })

  it('counts from the first request', async () => {
    const first = await send('DELETE', url())
    const count = await countAuditEntries(api)
    api.clock.advance(MINUTE_MS)
    expect((await send('DELETE', url())).body).toEqual(first.body)
    expect(await countAuditEntries(api)).toBe(count)
  })

  it('of the last of two devices gives the trust of the owner back', async () => {
    const other = await insertOwnedDevice()
    await send('DELETE', url(other))
    expect(await firstTrust()).not.toBeNull()
    await send('DELETE', url())
    expect(await firstTrust()).toBeNull()
  })

  it('of both devices at once gives the trust of the owner back', async () => {
    const other = await insertOwnedDevice()
    await Promise.all([send('DELETE', url(other)), send('DELETE', url())])
    expect(await firstTrust()).toBeNull()
  })
})

describe('POST /devices/{id}/deletion_cancellation', () => {
  const url = () => `/devices/${device}/deletion_cancellation`

  describeWriteContract({
    api: () => api,
    method: 'POST',
    path: url,
    permission: 'Remove Devices',
    missingPaths: () => missingPaths('/deletion_cancellation'),
  })

  it('keeps the device, its owner and its trust, and lets its agent enroll', async () => {
    await send('DELETE', `/devices/${device}`)
    const answer = await send('POST', url())
    expect(answer).toMatchObject({
      status: 200,
      body: { deletion_due_at: null, registered_at: REGISTERED_AT },
    })
    expect(await readDevice()).toMatchObject({
      agent_disabled_at: null,
      deletion_requested_at: null,
      deletion_requested_by: null,
    })
    expect(await firstTrust()).toEqual(new Date(REGISTERED_AT))
    expect(await lastAuditEntry(api)).toMatchObject({
      action: 'device.deletion_cancelled',
      before: { deletion_due_at: expect.any(String) as string },
      after: { deletion_due_at: null },
    })
  })

  it('leaves an agent disabled that was disabled before', async () => {
    const disabledAt = new Date('2026-01-01')
    await api.db.updateTable('device').set({ agent_disabled_at: disabledAt }).execute()
    await send('DELETE', `/devices/${device}`)
    await send('POST', url())
    expect((await readDevice()).agent_disabled_at).toEqual(disabledAt)
  })

  it('is a conflict for a device that is not to be deleted', async () => {
    const { status, body } = await send('POST', url())
    expect([status, body.code]).toEqual([409, 'conflict'])
  })
})
