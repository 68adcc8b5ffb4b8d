import { afterAll, beforeEach, expect, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { createPosture, type Posture } from '../../../test/support/posture-fixtures.ts'
import { waitForLock } from '../../../test/support/wait-for-lock.ts'
import { DAY_MS } from '../../platform/clock.ts'
import { lockPerson } from '../../people/people/person-store.ts'
import { listDeviceIdsOfOwner } from './device-store.ts'
import { lockOwnedDevices } from './end-registrations.ts'
import { setDeviceOwner, type NewOwner } from './set-device-owner.ts'
import { emptyTables } from '../../../test/support/empty-tables.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let posture: Posture
beforeEach(async () => {
  await emptyTables(db, 'device', 'person')
  posture = createPosture(db)
})

const setOwner = (deviceId: string, owner: NewOwner) =>
  posture.change((change) => setDeviceOwner(change, deviceId, owner))

test('creates the person once, whatever the case of the address, and registers the device', async () => {
  const [first, second] = [await posture.insertDevice(), await posture.insertDevice()]
  await setOwner(first, { email: 'A@example.com', name: 'A' })
  await setOwner(second, { email: 'a@EXAMPLE.com' })
  const people = await db.selectFrom('person').select(['name', 'email']).execute()
  expect(people).toEqual([{ name: 'A', email: 'A@example.com' }])
  const devices = await db
    .selectFrom('device')
    .select(['owner_person_id', 'registered_at'])
    .execute()
  const registration = { owner_person_id: '1', registered_at: posture.clock.now() }
  expect(devices).toEqual([registration, registration])
})

test('the same owner again keeps the time of the registration and adds no audit entry', async () => {
  const device = await posture.insertDevice()
  const registeredAt = posture.clock.now()
  await setOwner(device, { email: 'a@example.com' })
  const count = async () => (await db.selectFrom('audit_entry').select('sequence').execute()).length
  const before = await count()
  posture.clock.advance(DAY_MS)
  expect((await setOwner(device, { email: 'a@example.com' })).registeredAt).toEqual(registeredAt)
  expect(await count()).toBe(before)
})

test('a registration ends and another begins, each with an audit entry', async () => {
  const device = await posture.insertDevice()
  await setOwner(device, { email: 'a@example.com' })
  expect(await setOwner(device, null)).toMatchObject({ ownerPersonId: null, registeredAt: null })
  await setOwner(device, { email: 'b@example.com' })
  const entries = await db
    .selectFrom('audit_entry')
    .select(['description'])
    .where('action', 'in', ['device.registered', 'device.unregistered'])
    .orderBy('sequence')
    .execute()
  expect(entries.slice(-3).map((entry) => entry.description)).toEqual([
    'registered mac-1 to a@example.com',
    'ended the registration of mac-1 to a@example.com',
    'registered mac-1 to b@example.com',
  ])
})

test('two devices registered to a new person at once share one person', async () => {
  const devices = await Promise.all([1, 2, 3, 4].map(() => posture.insertDevice()))
  await Promise.all(devices.map((id) => setOwner(id, { email: 'a@example.com' })))
  expect(await db.selectFrom('person').select('id').execute()).toHaveLength(1)
})

test('an unknown device and a malformed address are refused', async () => {
  const device = await posture.insertDevice()
  await expect(setOwner('999', null)).rejects.toMatchObject({ code: 'not_found' })
  await expect(setOwner('x', null)).rejects.toMatchObject({ code: 'not_found' })
  await expect(setOwner(device, { email: 'nobody' })).rejects.toMatchObject({
    code: 'invalid_body',
  })
})

test('nobody gets a device who is being switched off', async () => {
  const device = await posture.insertDevice()
  await setOwner(await posture.insertDevice(), { email: 'a@example.com' })
  const other = await db.startTransaction().execute()
  await other.updateTable('person').set({ deprovisioned_at: posture.clock.now() }).execute()
  const setting = expect(setOwner(device, { email: 'a@example.com' })).rejects.toMatchObject({
    code: 'conflict',
  })
  await waitForLock(db)
  await other.commit().execute()
  await setting
  const { owner_person_id: owner } = await db
    .selectFrom('device')
    .select('owner_person_id')
    .where('id', '=', device)
    .executeTakeFirstOrThrow()
  expect(owner).toBeNull()
})

test('a change that locks the devices of a person begins anew where the person gets one meanwhile', async () => {
  await setOwner(await posture.insertDevice(), { email: 'a@example.com' })
  const { id: personId } = await db
    .selectFrom('person')
    .select('id')
    .where('email', '=', 'a@example.com')
    .executeTakeFirstOrThrow()
  const gained = await posture.insertDevice()
  const other = await db.startTransaction().execute()
  await other
    .updateTable('device')
    .set({ owner_person_id: personId })
    .where('id', '=', gained)
    .execute()
  await other.updateTable('person').set({ updated_at: posture.clock.now() }).execute()
  let turns = 0
  const locking = posture.change(async (change) => {
    turns += 1
    const assertLocked = await lockOwnedDevices(change, personId)
    await lockPerson(change.tx, personId)
    await assertLocked()
    return listDeviceIdsOfOwner(change.tx, personId)
  })
  await waitForLock(db)
  await other.commit().execute()
  expect(await locking).toContain(gained)
  expect(turns).toBe(2)
})
