import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { findOrCreatePerson } from '../../people/people/find-or-create-person.ts'
import { getDeviceForUpdate } from '../../posture/devices/device-store.ts'
import { lockFreePerson, waitForLock } from '../../../test/support/wait-for-lock.ts'
import {
  insertCheck,
  insertDevice,
  insertIssue,
  insertPerson,
} from '../../../test/support/factories.ts'
import {
  createScimApi,
  patchOf,
  type ScimApi,
  type TestGroup,
  type TestUser,
} from '../../../test/support/scim-app.ts'

let api: ScimApi
let person: TestUser
let group: TestGroup
let devices: [string, string]
let secretId: string
let count = 0

beforeAll(async () => {
  api = await createScimApi()
})

afterAll(() => api.close())

beforeEach(async () => {
  count += 1
  const { db, clock } = api
  person = await api.createUser(`ada-${count}@example.com`)
  group = await api.createGroup(`Group ${count}`, [person.id])
  const registered_at = new Date('2026-01-01')
  devices = [
    await insertDevice(db, { owner_person_id: person.id, registered_at }),
    await insertDevice(db, { owner_person_id: person.id, registered_at }),
  ]
  const secret = await db
    .insertInto('enrollment_secret')
    .values({
      name: 'Laptop',
      secret_hash: Buffer.alloc(32, count),
      secret_sealed: Buffer.alloc(1),
      person_id: person.id,
      created_at: clock.now(),
      updated_at: clock.now(),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  secretId = secret.id
  clock.advance(1_000)
})

const SWITCH_OFF = patchOf({ op: 'replace', path: 'active', value: false })
const SWITCH_ON = patchOf({ op: 'replace', path: 'active', value: true })

async function idsOf(path: string): Promise<string[]> {
  const { body } = await api.request<{ data: { id: string }[] }>(`${path}?per_page=100`)
  return body.data.map(({ id }) => id)
}

async function ownerOf(deviceId: string) {
  return api.db
    .selectFrom('device')
    .select(['owner_person_id', 'registered_at'])
    .where('id', '=', deviceId)
    .executeTakeFirstOrThrow()
}

async function switchOff(): Promise<void> {
  const { status, body } = await api.scim<TestUser>('PATCH', `/Users/${person.id}`, SWITCH_OFF)
  expect(status).toBe(200)
  expect(body.active).toBe(false)
}

async function expectDeprovisioned(): Promise<void> {
  expect((await api.request(`/people/${person.id}`)).status).toBe(404)
  expect(await idsOf('/people')).not.toContain(person.id)
  expect(await idsOf(`/person_groups/${group.id}/people`)).toEqual([])
  expect(await idsOf('/deprovisioned_people')).toContain(person.id)
  expect((await api.request(`/deprovisioned_people/${person.id}`)).body).toMatchObject({
    email: `ada-${count}@example.com`,
    has_registered_device: false,
  })
  for (const device of devices) {
    expect(await ownerOf(device)).toEqual({ owner_person_id: null, registered_at: null })
  }
  const secret = await api.db
    .selectFrom('enrollment_secret')
    .select('revoked_at')
    .where('id', '=', secretId)
    .executeTakeFirst()
  expect(secret?.revoked_at).not.toBeNull()
}

describe('switching a user off', () => {
  it.each(['PATCH', 'DELETE'] as const)(
    'locks the devices before the person, as every change does (%s)',
    async (method) => {
      const other = await api.db.startTransaction().execute()
      await getDeviceForUpdate(other, devices[1])
      const path = `/Users/${person.id}`
      const ending = api.scim(method, path, method === 'PATCH' ? SWITCH_OFF : undefined)
      await waitForLock(api.db)
      await lockFreePerson(other, person.id)
      await other.rollback().execute()
      expect((await ending).status).toBeLessThan(300)
      expect(await ownerOf(devices[1])).toEqual({ owner_person_id: null, registered_at: null })
    },
  )

  it('resolves the open issues of the person: nothing could any more', async () => {
    const check = await insertCheck(api.db, { type: 'external', target_type: 'people' })
    const [own, other] = [
      await insertIssue(api.db, { check_id: check, person_id: person.id }),
      await insertIssue(api.db, { check_id: check, person_id: await insertPerson(api.db) }),
    ]
    await api.db
      .insertInto('person_check_result')
      .values({
        person_id: person.id,
        check_id: check,
        status: 'failing',
        ran_at: api.clock.now(),
        status_changed_at: api.clock.now(),
        updated_at: api.clock.now(),
      })
      .execute()
    await switchOff()
    expect(await api.db.selectFrom('person_check_result').selectAll().execute()).toEqual([])
    const resolved = await api.db.selectFrom('issue').select(['id', 'resolved_at']).execute()
    expect(new Map(resolved.map((issue) => [issue.id, issue.resolved_at]))).toEqual(
      new Map([
        [own, api.clock.now()],
        [other, null],
      ]),
    )
  })

  it('ends everything that the person could do, as one audited change', async () => {
    await switchOff()
    await expectDeprovisioned()
    const entries = [
      ...(await api.auditOf('person', person.id)).slice(-1),
      ...(await api.auditOf('device', devices[0])),
      ...(await api.auditOf('device', devices[1])),
      ...(await api.auditOf('enrollment_secret', secretId)),
    ]
    expect(entries.map(({ action }) => action)).toEqual([
      'person.deprovisioned',
      'device.unregistered',
      'device.unregistered',
      'enrollment_secret.revoked',
    ])
    expect(new Set(entries.map(({ txn }) => txn)).size).toBe(1)
    expect(entries[0]).toMatchObject({
      before: { active: true, deprovisioned_at: null },
      after: { active: false, deprovisioned_at: api.clock.now().toISOString() },
    })
    expect(entries[1]).toMatchObject({
      before: { owner_email: `ada-${count}@example.com` },
      after: { owner_email: null },
    })
  })

  it('is done once, however often it is asked for', async () => {
    await switchOff()
    const before = await api.auditOf('person', person.id)
    api.clock.advance(1_000)
    await switchOff()
    expect(await api.auditOf('person', person.id)).toEqual(before)
  })

  it('leaves the user to the identity provider', async () => {
    await switchOff()
    const { body } = await api.scim<TestUser>('GET', `/Users/${person.id}`)
    expect(body).toMatchObject({ active: false, groups: [{ value: group.id }] })
  })

  it('lets nobody come back under the same address by a device', async () => {
    await switchOff()
    const enroll = (email: string) =>
      api.runChange({ actor: SYSTEM_ACTOR }, (change) => findOrCreatePerson(change, { email }))
    await expect(enroll(`ADA-${count}@example.com`)).rejects.toMatchObject({ code: 'conflict' })
  })
})

describe('switching a user on again', () => {
  it('restores the person and the groups; devices are registered anew', async () => {
    await switchOff()
    api.clock.advance(1_000)
    const { body } = await api.scim<TestUser>('PATCH', `/Users/${person.id}`, SWITCH_ON)
    expect(body.active).toBe(true)
    expect((await api.request(`/people/${person.id}`)).status).toBe(200)
    expect(await idsOf(`/person_groups/${group.id}/people`)).toEqual([person.id])
    expect(await idsOf('/deprovisioned_people')).not.toContain(person.id)
    expect(await idsOf(`/people/${person.id}/registered_devices`)).toEqual([])
    expect((await api.auditOf('person', person.id)).at(-1)).toMatchObject({
      action: 'person.restored',
      before: { active: false },
      after: { active: true, deprovisioned_at: null },
    })
  })

  it('is refused when somebody else has the address by now', async () => {
    await switchOff()
    await insertPerson(api.db, { email: `ada-${count}@example.com` })
    const { status, body } = await api.scim('PATCH', `/Users/${person.id}`, SWITCH_ON)
    expect(status).toBe(409)
    expect(body).toMatchObject({ scimType: 'uniqueness' })
  })
})

describe('deleting a user', () => {
  it('deprovisions the person, takes them out of their groups and keeps the record', async () => {
    const { status, body } = await api.scim('DELETE', `/Users/${person.id}`)
    expect([status, body]).toEqual([204, undefined])
    await expectDeprovisioned()
    for (const method of ['GET', 'DELETE'] as const) {
      expect((await api.scim(method, `/Users/${person.id}`)).status).toBe(404)
    }
    const { body: emptied } = await api.scim<TestGroup>('GET', `/Groups/${group.id}`)
    expect(emptied.members).toEqual([])
    expect(emptied.meta.version).not.toBe(group.meta.version)
    expect((await api.auditOf('person', person.id)).slice(-2)).toMatchObject([
      { action: 'person.deprovisioned' },
      {
        action: 'person.provisioning_ended',
        before: { person_group_ids: [group.id] },
        after: { person_group_ids: [] },
      },
    ])
  })

  it('deletes one who is switched off already', async () => {
    await switchOff()
    expect((await api.scim('DELETE', `/Users/${person.id}`)).status).toBe(204)
    await expectDeprovisioned()
  })

  it('frees the user name and the address for a new person', async () => {
    await api.scim('DELETE', `/Users/${person.id}`)
    const again = await api.createUser(`ada-${count}@example.com`)
    expect(again.id).not.toBe(person.id)
    expect((await api.request(`/people/${again.id}`)).status).toBe(200)
    expect((await api.request(`/deprovisioned_people/${person.id}`)).status).toBe(200)
  })
})

it('makes a user who is switched off from the start', async () => {
  const { id } = await api.createUser('off@example.com', { active: false })
  expect((await api.request(`/people/${id}`)).status).toBe(404)
  expect((await api.request(`/deprovisioned_people/${id}`)).status).toBe(200)
})

it('gives an existing person back by address or user name when a device is registered', async () => {
  const managed = await api.createUser('upn-7', { emails: [{ value: 'mail-7@example.com' }] })
  await api.scim(
    'PATCH',
    `/Users/${managed.id}`,
    patchOf({ op: 'replace', path: 'userName', value: 'upn-7@example.com' }),
  )
  for (const email of ['Mail-7@example.com', 'UPN-7@example.com']) {
    const found = await api.runChange({ actor: SYSTEM_ACTOR }, (change) =>
      findOrCreatePerson(change, { email }),
    )
    expect(found.id).toBe(managed.id)
  }
})
