import { sql } from 'kysely'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { Agents, enrollBody, expectFailure } from '../../../test/support/agent-fixtures.ts'
import { createTestDatabase } from '../../../test/support/database.ts'
import { insertDeviceGroup } from '../../../test/support/factories.ts'
import { createPosture, FAIL, type Posture } from '../../../test/support/posture-fixtures.ts'
import { listCounterDrift } from '../../../test/support/list-counter-drift.ts'
import { hashEnrollmentSecret } from '../enrollment/secrets/create-enrollment-secret.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { cancelDeviceDeletion } from './cancel-device-deletion.ts'
import { deleteDueDevices } from './delete-due-devices.ts'
import { readmitHost } from './readmit-host.ts'
import { requestDeviceDeletion } from './request-device-deletion.ts'
import { emptyTables } from '../../../test/support/empty-tables.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

const DELAY_SECONDS = 600
let posture: Posture
let errors: unknown[]

beforeEach(async () => {
  await emptyTables(
    db,
    'device',
    'posture_check',
    'device_group',
    'removed_host',
    'enrollment_secret',
    'delivery',
    'delivery_destination',
  )
  posture = createPosture(db)
  errors = []
})

const requestDeletion = (id: string, delaySeconds = DELAY_SECONDS) =>
  posture.change((change) => requestDeviceDeletion(change, id, delaySeconds))
const deleteDue = () =>
  deleteDueDevices({
    db,
    runChange: posture.runChange,
    logError: (error) => errors.push(error),
  })
const listIds = async () =>
  (await db.selectFrom('device').select('id').orderBy('id').execute()).map(({ id }) => id)

test('deletes at the due time, not before, and answers when the next one is due', async () => {
  const [first, second, kept] = [
    await posture.insertDevice(),
    await posture.insertDevice(),
    await posture.insertDevice(),
  ]
  await requestDeletion(first)
  posture.clock.advance(10 * SECOND_MS)
  await requestDeletion(second)
  const firstDue = new Date(posture.clock.now().getTime() + (DELAY_SECONDS - 10) * SECOND_MS)
  expect(await deleteDue()).toEqual(firstDue)

  posture.clock.set(new Date(firstDue.getTime() - 1))
  await deleteDue()
  expect(await listIds()).toEqual([first, second, kept])

  posture.clock.set(firstDue)
  const secondDue = new Date(firstDue.getTime() + 10 * SECOND_MS)
  expect(await deleteDue()).toEqual(secondDue)
  expect(await listIds()).toEqual([second, kept])

  posture.clock.set(secondDue)
  expect(await deleteDue()).toBeUndefined()
  expect(await listIds()).toEqual([kept])
})

test('a deletion that was cancelled never happens', async () => {
  const device = await posture.insertDevice()
  await requestDeletion(device)
  await posture.change((change) => cancelDeviceDeletion(change, device))
  posture.clock.advance(2 * DELAY_SECONDS * SECOND_MS)
  await deleteDue()
  expect(await listIds()).toEqual([device])
})

test('takes everything of the device along, keeps what is told to others, and says what was deleted', async () => {
  const check = await posture.insertCheck()
  const [device, other] = [
    await posture.insertDevice({ serial: 'SERIAL-1' }),
    await posture.insertDevice(),
  ]
  await posture.report(device, { [check]: FAIL })
  await posture.report(other, { [check]: FAIL })
  const group = await insertDeviceGroup(db)
  await sql`insert into device_group_member (device_group_id, device_id, added_at)
    select ${group}, id, now() from device`.execute(db)
  await queueEvent(device)

  await requestDeletion(device, 0)
  await deleteDue()
  expect(await listCounterDrift(db)).toEqual([])
  const issues = await db.selectFrom('issue').select('device_id').execute()
  expect(issues).toEqual([{ device_id: other }])
  const { members_count } = await db
    .selectFrom('device_group')
    .select('members_count')
    .executeTakeFirstOrThrow()
  expect(members_count).toBe(1)
  const queued = await db.selectFrom('delivery').select(['subject_key', 'state']).execute()
  expect(queued).toEqual([{ subject_key: device, state: 'queued' }])
  const entry = await db
    .selectFrom('audit_entry')
    .select(['actor_type', 'target_id', 'before'])
    .where('action', '=', 'device.deleted')
    .orderBy('sequence', 'desc')
    .executeTakeFirstOrThrow()
  expect(entry).toMatchObject({
    actor_type: 'System',
    target_id: device,
    before: { serial: 'SERIAL-1', auth_state: 'Blocked', deletion_requested_by: 'Heliograph' },
  })
})

test('several processes delete each device once', async () => {
  for (let index = 0; index < 6; index += 1) await requestDeletion(await posture.insertDevice(), 0)
  const countDeleted = async () =>
    (
      await db
        .selectFrom('audit_entry')
        .where('action', '=', 'device.deleted')
        .select('sequence')
        .execute()
    ).length
  const before = await countDeleted()
  await Promise.all([deleteDue(), deleteDue(), deleteDue()])
  expect(await listIds()).toEqual([])
  expect((await countDeleted()) - before).toBe(6)
  expect(errors).toEqual([])
})

test('a device that cannot be deleted is told and does not hold up the others', async () => {
  const [bad, good] = [await posture.insertDevice(), await posture.insertDevice()]
  await requestDeletion(bad, 0)
  await requestDeletion(good, 1)
  posture.clock.advance(SECOND_MS)
  await sql`create table held (device_id bigint references device (id))`.execute(db)
  await sql`insert into held values (${bad})`.execute(db)
  try {
    await deleteDue()
    expect(await listIds()).toEqual([bad])
    expect(errors).toHaveLength(1)
  } finally {
    await sql`drop table held`.execute(db)
  }
  await deleteDue()
  expect(await listIds()).toEqual([])
})

test('the agent is refused at once, and its host stays out until a newer secret or an admin lets it in', async () => {
  const agents = await Agents.create(db)
  try {
    const nodeKey = await agents.enroll()
    const [device = ''] = await listIds()
    await agents.posture.change((change) => requestDeviceDeletion(change, device, 1))
    const { app: restarted } = agents.build()
    const read = await agents.post('distributed/read', { node_key: nodeKey }, {}, restarted)
    expect(read.json()).toMatchObject({ node_invalid: true })
    expectFailure(await agents.post('enroll', enrollBody()), 403)

    agents.posture.clock.advance(SECOND_MS)
    await deleteDueDevices({ db, runChange: agents.posture.runChange, logError: () => undefined })
    expect(await listIds()).toEqual([])
    expectFailure(await agents.post('enroll', enrollBody()), 403)
    expect(await listIds()).toEqual([])

    await agents.posture.change((change) => readmitHost(change, 'host-1'))
    expect((await agents.post('enroll', enrollBody())).statusCode).toBe(200)
    const [again = ''] = await listIds()
    await agents.posture.change((change) => requestDeviceDeletion(change, again, 0))
    await deleteDueDevices({ db, runChange: agents.posture.runChange, logError: () => undefined })

    agents.posture.clock.advance(1)
    await insertSecret('newer-secret', agents.posture.clock.now())
    const fresh = enrollBody({ enroll_secret: 'newer-secret' })
    expect((await agents.post('enroll', fresh)).statusCode).toBe(200)
    expect(await db.selectFrom('removed_host').selectAll().execute()).toEqual([])
  } finally {
    await agents.close()
  }
})

async function insertSecret(secret: string, at: Date): Promise<void> {
  await db
    .insertInto('enrollment_secret')
    .values({
      name: secret,
      secret_hash: hashEnrollmentSecret(secret),
      secret_sealed: Buffer.alloc(1),
      created_at: at,
      updated_at: at,
    })
    .execute()
}

async function queueEvent(deviceId: string): Promise<void> {
  const at = posture.clock.now()
  const { id } = await db
    .insertInto('delivery_destination')
    .values({ kind: 'ssf_poll', state: 'active' })
    .returning('id')
    .executeTakeFirstOrThrow()
  await db
    .insertInto('delivery')
    .values({
      destination_id: id,
      event_id: 'event-1',
      event_type: 'device-compliance-change',
      subject_key: deviceId,
      body: '{}',
      state: 'queued',
      next_attempt_at: at,
      txn: 'txn-1',
      created_at: at,
    })
    .execute()
}
