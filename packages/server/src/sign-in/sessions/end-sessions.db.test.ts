import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { insertDevice, insertPerson } from '../../../test/support/factories.ts'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { inOrder, insertApplication } from '../../../test/support/sign-in-fixtures.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createChangeRunner, type Change, type RunChange } from '../../changes/change.ts'
import type { DomainEvent, DomainEventOf } from '../../changes/domain-event.ts'
import { deprovisionPerson } from '../../people/people/deprovision-person.ts'
import { findPerson } from '../../people/people/person-store.ts'
import { newUuid } from '../../platform/ids.ts'
import { endRegistrations, lockOwnedDevices } from '../../posture/devices/end-registrations.ts'
import { requestDeviceDeletion } from '../../posture/devices/request-device-deletion.ts'
import { revokeDeviceNode } from '../../posture/devices/revoke-device-node.ts'
import { setDeviceOwner } from '../../posture/devices/set-device-owner.ts'
import { unregisterDevice } from '../../posture/devices/unregister-device.ts'
import { createSessionEnder } from './end-sessions.ts'

let database: TestDatabase
let clock: ManualClock
let runChange: RunChange
let events: DomainEvent[]
let application: string
let person: { readonly id: string; readonly email: string }
let deviceId: string

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())

beforeEach(async () => {
  const { db } = database
  clock = new ManualClock()
  events = []
  runChange = createChangeRunner(db, clock, [
    createSessionEnder(),
    async (record) => void events.push(...record.events),
  ])
  application = await insertApplication(db, {
    backchannel_logout_uri: 'https://wiki.example.com/logout',
  })
  const email = `ada.${application}@example.com`
  person = { id: await insertPerson(db, { email }), email }
  deviceId = await insertDevice(db, { ...inOrder(), owner_person_id: person.id })
})

const make = async <Result>(work: (change: Change) => Promise<Result>): Promise<Result> =>
  runChange({ actor: SYSTEM_ACTOR }, work)

/** A session on a device: by default of the person on the own one, at an application. */
async function grant(
  values: { device_id?: string | null; person_id?: string; application_id?: string | null } = {},
): Promise<string> {
  const id = newUuid()
  const now = clock.now()
  await database.db
    .insertInto('sign_in_granted_session')
    .values({
      ...{ id, sid: newUuid(), application_id: application, person_id: person.id },
      ...{ device_id: deviceId, assurance: 'live', granted_at: now },
      expires_at: new Date(now.getTime() + 3_600_000),
      ...values,
    })
    .execute()
  return id
}

async function read(id: string) {
  return database.db
    .selectFrom('sign_in_granted_session')
    .select(['ended_at as endedAt', 'end_reason as reason', 'logout_due_at as logoutDueAt'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
}

const told = () =>
  events.filter(
    (event): event is DomainEventOf<'sign_in_session.ended'> =>
      event.type === 'sign_in_session.ended',
  )

const ENDINGS: readonly (readonly [string, (change: Change) => Promise<unknown>])[] = [
  ['device_gone', (change) => requestDeviceDeletion(change, deviceId, 60)],
  ['device_gone', (change) => revokeDeviceNode(change, deviceId, { disableAgent: true })],
  ['owner_changed', (change) => setDeviceOwner(change, deviceId, { email: 'bob@example.com' })],
  ['registration_ended', (change) => unregisterDevice(change, deviceId)],
  [
    'person_gone',
    async (change) => {
      const found = await findPerson(change.tx, person.id)
      if (found === undefined) throw new Error('there is no such person')
      const nothing = async () => undefined
      const deps = {
        lockDevices: lockOwnedDevices,
        endRegistrations,
        resolveIssues: nothing,
        revokeEnrollmentSecrets: nothing,
      }
      return deprovisionPerson(change, deps, found)
    },
  ],
]

it.each(ENDINGS)(
  'ends the sessions with their device or person (%s) in the same change, and owes the application the news',
  async (reason, work) => {
    const atApplication = await grant()
    const onOwnPages = await grant({ application_id: null })
    const elsewhere = await grant({
      device_id: await insertDevice(database.db, inOrder()),
      person_id: await insertPerson(database.db),
    })
    await make(work)
    const endedAt = clock.now()
    expect(await read(atApplication)).toEqual({ endedAt, reason, logoutDueAt: endedAt })
    expect(await read(onOwnPages)).toEqual({ endedAt, reason, logoutDueAt: null })
    expect(await read(elsewhere)).toMatchObject({ endedAt: null, reason: null })
    expect(new Set(told().map(({ sessionId }) => sessionId))).toEqual(
      new Set([atApplication, onOwnPages]),
    )
    expect(told()[0]).toMatchObject({ reason, deviceId, person })
  },
)

it('leaves what ended before as it was, and the sessions of a device that is revoked for another key', async () => {
  const session = await grant()
  await make((change) => revokeDeviceNode(change, deviceId))
  expect(await read(session)).toMatchObject({ endedAt: null })
  await make((change) => unregisterDevice(change, deviceId))
  clock.advance(1_000)
  await make((change) => requestDeviceDeletion(change, deviceId, 60))
  expect(await read(session)).toMatchObject({ reason: 'registration_ended' })
  expect(told()).toHaveLength(1)
})

it('ends nothing when a device is registered to somebody for the first time', async () => {
  const id = await insertDevice(database.db, { ...inOrder(), registered_at: null })
  const session = await grant({ device_id: id })
  await make((change) => setDeviceOwner(change, id, { email: person.email }))
  expect(await read(session)).toMatchObject({ endedAt: null })
})
