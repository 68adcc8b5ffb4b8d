/* What keeps a machine from becoming a device that is known, and what lets one enroll again that lost its key. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  Agents,
  describeSystem,
  enrollBody,
  expectFailure,
  expectNodeInvalid,
} from '../../../test/support/agent-fixtures.ts'
import { createTestDatabase } from '../../../test/support/database.ts'
import { deleteDevice } from '../../posture/devices/delete-device.ts'
import { getDeviceForUpdate } from '../../posture/devices/device-store.ts'
import { revokeDeviceNode } from '../../posture/devices/revoke-device-node.ts'
import { decideReenrollmentRequest } from '../../posture/enrollment/reenrollment/decide-reenrollment-request.ts'
import { hashEnrollmentSecret } from '../../posture/enrollment/secrets/create-enrollment-secret.ts'
import { DAY_MS, MINUTE_MS } from '../../platform/clock.ts'

const HOME = '127.0.0.1'
const ELSEWHERE = '198.51.100.66'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let agents: Agents
beforeEach(async () => {
  agents = await Agents.create(db)
})
afterEach(() => agents.close())

const enrollFrom = (address: string, more: object = {}, headers: Record<string, string> = {}) =>
  agents.post('enroll', enrollBody(more), headers, agents.app, address)

/** A device with a node key that is in use. */
async function enrollVictim(): Promise<string> {
  const nodeKey = await agents.enroll()
  await agents.use(nodeKey)
  return nodeKey
}

const listRequests = () => db.selectFrom('reenrollment_request').selectAll().orderBy('id').execute()
const listDevices = () => db.selectFrom('device').selectAll().orderBy('id').execute()

async function listAudit(action: string) {
  const entries = await db
    .selectFrom('audit_entry')
    .select(['before', 'after', 'target_id'])
    .where('action', '=', action)
    .orderBy('sequence')
    .execute()
  return entries
}

async function insertPerson(email: string): Promise<string> {
  const at = agents.posture.clock.now()
  const { id } = await db
    .insertInto('person')
    .values({ name: email, email, created_at: at, updated_at: at })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

async function insertSecret(secret: string, personId: string | null): Promise<void> {
  const at = agents.posture.clock.now()
  await db
    .insertInto('enrollment_secret')
    .values({
      name: secret,
      secret_hash: hashEnrollmentSecret(secret),
      secret_sealed: Buffer.alloc(1),
      person_id: personId,
      created_at: at,
      updated_at: at,
    })
    .execute()
}

const decide = (id: string, status: 'approved' | 'denied') =>
  agents.posture.change((change) => decideReenrollmentRequest(change, id, status))

describe('a device that is in use', () => {
  it('keeps its key when another machine enrolls as it; the machine waits, and is on record once', async () => {
    const nodeKey = await enrollVictim()
    const requestedBefore = (await listAudit('device.reenrollment_requested')).length
    for (let attempt = 0; attempt < 3; attempt += 1) expectFailure(await enrollFrom(ELSEWHERE), 403)
    await agents.use(nodeKey)
    expect(await listRequests()).toMatchObject([
      {
        status: 'pending',
        reason: 'live_node_key',
        device_id: '1',
        ip_address: ELSEWHERE,
        known_ip_address: HOME,
        attempts_count: '3',
      },
    ])
    const audit = (await listAudit('device.reenrollment_requested')).slice(requestedBefore)
    expect(audit).toMatchObject([
      { target_id: '1', before: { ip_address: HOME }, after: { ip_address: ELSEWHERE } },
    ])
  })

  it('keeps its key against whoever shares its address', async () => {
    const nodeKey = await enrollVictim()
    expectFailure(await enrollFrom(HOME), 403)
    await agents.use(nodeKey)
  })

  it('keeps its key when the machine tells no hardware, or not all of it', async () => {
    const nodeKey = await enrollVictim()
    for (const details of [{}, describeSystem('UUID-1', ''), describeSystem('', 'SERIAL-1')]) {
      const answer = await enrollFrom(ELSEWHERE, { host_details: details })
      expectFailure(answer, 409)
      expect(answer.json<{ error: string }>().error).toContain('leaves out')
    }
    await agents.use(nodeKey)
    expect((await listAudit('device.enrollment_refused')).at(-1)).toMatchObject({
      target_id: '1',
      after: { serial: 'SERIAL-1', hardware_uuid: null, ip_address: ELSEWHERE },
    })
  })

  it('is not on record without end because somebody tries on in its name', async () => {
    await enrollVictim()
    const known = (await listAudit('device.enrollment_refused')).length
    for (let attempt = 0; attempt < 15; attempt += 1) {
      expectFailure(await enrollFrom(ELSEWHERE, { host_details: {} }), 409)
    }
    expect(await listAudit('device.enrollment_refused')).toHaveLength(known + 10)
    agents.posture.clock.advance(MINUTE_MS)
    expectFailure(await enrollFrom(ELSEWHERE, { host_details: {} }), 409)
    expect(await listAudit('device.enrollment_refused')).toHaveLength(known + 11)
  })

  it('proves itself by its node key, in the header or in the body', async () => {
    const first = await enrollVictim()
    const header = await enrollFrom(ELSEWHERE, {}, { authorization: `NodeKey ${first}` })
    expect(header.statusCode).toBe(200)
    const second = header.json<{ node_key: string }>().node_key
    await agents.use(second)
    expect((await enrollFrom(HOME, { node_key: second })).statusCode).toBe(200)
    expectNodeInvalid(await agents.post('config', { node_key: second }))
    expect((await listAudit('device.reenrolled')).at(-1)).toMatchObject({
      after: { basis: 'node_key_proven' },
    })
  })

  it('does not wait because others tried in its name', async () => {
    const { app } = agents.build({ enrollmentsPerHostPerMinute: 2 })
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await agents.post('enroll', enrollBody(), {}, app, ELSEWHERE)
    }
    expect(
      (await agents.post('enroll', enrollBody({ host_identifier: 'x', host_details: {} }), {}, app))
        .statusCode,
    ).toBe(200)
    await agents.posture.change((change) => revokeDeviceNode(change, '1'))
    expect((await agents.post('enroll', enrollBody(), {}, app, HOME)).statusCode).toBe(200)
  })
})

describe('a device that lost its node key', () => {
  it('enrolls again once the key has been silent; both addresses are on record', async () => {
    await enrollVictim()
    agents.posture.clock.advance(3 * DAY_MS - 1)
    expectFailure(await enrollFrom(ELSEWHERE), 403)
    agents.posture.clock.advance(1)
    expect((await enrollFrom(ELSEWHERE)).statusCode).toBe(200)
    expect((await listAudit('device.reenrolled')).at(-1)).toMatchObject({
      before: { ip_address: HOME, last_seen_at: expect.any(String) as string },
      after: { ip_address: ELSEWHERE, basis: 'node_key_silent' },
    })
    expect(await listRequests()).toMatchObject([{ status: 'completed' }])
  })

  it('enrolls again after the time that is set', async () => {
    await enrollVictim()
    const { app } = agents.build({ nodeKeyAliveMs: 60_000 })
    agents.posture.clock.advance(60_000)
    expect((await agents.post('enroll', enrollBody(), {}, app, ELSEWHERE)).statusCode).toBe(200)
  })

  it('enrolls again at once when the answer of its enrollment was lost, and uses the secret once', async () => {
    await db.updateTable('enrollment_secret').set({ uses_max: 1 }).execute()
    await agents.enroll()
    const nodeKey = await agents.enroll()
    expectFailure(await enrollFrom(ELSEWHERE), 401)
    await agents.use(nodeKey)
    expectFailure(await enrollFrom(HOME), 401)
    expect(await db.selectFrom('enrollment_secret').select('use_count').execute()).toEqual([
      { use_count: '1' },
    ])
  })

  it('enrolls again at once after an admin ended the key', async () => {
    await enrollVictim()
    await agents.posture.change((change) => revokeDeviceNode(change, '1'))
    expect((await enrollFrom(ELSEWHERE)).statusCode).toBe(200)
  })

  it('is not let in by time when the key was used after it had asked', async () => {
    const nodeKey = await enrollVictim()
    expectFailure(await enrollFrom(ELSEWHERE), 403)
    await agents.use(nodeKey)
    agents.posture.clock.advance(30 * DAY_MS)
    expectFailure(await enrollFrom(ELSEWHERE), 403)
  })
})

describe('the approval of an admin', () => {
  it('lets in that machine alone, once, and ends the old key', async () => {
    const nodeKey = await enrollVictim()
    expectFailure(await enrollFrom(ELSEWHERE), 403)
    await decide('1', 'approved')
    expectFailure(await enrollFrom('203.0.113.5'), 403)
    const admitted = await enrollFrom(ELSEWHERE)
    expect(admitted.statusCode).toBe(200)
    expectNodeInvalid(await agents.post('config', { node_key: nodeKey }))
    await agents.use(admitted.json<{ node_key: string }>().node_key)
    expectFailure(await enrollFrom(ELSEWHERE), 403)
    expect((await listRequests()).map(({ status }) => status)).toEqual([
      'completed',
      'pending',
      'pending',
    ])
  })

  it('ends after a day', async () => {
    const nodeKey = await enrollVictim()
    expectFailure(await enrollFrom(ELSEWHERE), 403)
    await decide('1', 'approved')
    agents.posture.clock.advance(DAY_MS)
    await agents.use(nodeKey)
    expectFailure(await enrollFrom(ELSEWHERE), 403)
    expect(await listRequests()).toMatchObject([{ status: 'pending', approved_until: null }])
  })

  it('is not for other hardware under the same name', async () => {
    await enrollVictim()
    const other = describeSystem('UUID-2', 'SERIAL-2')
    await agents.enroll({ host_identifier: 'host-2', host_details: other })
    expectFailure(await enrollFrom(ELSEWHERE, { host_identifier: 'new' }), 403)
    await decide('1', 'approved')
    agents.posture.clock.advance(1)
    const changed = { host_identifier: 'new', host_details: other }
    expectFailure(await enrollFrom(ELSEWHERE, changed), 403)
    expect(await listRequests()).toMatchObject([{ status: 'pending', serial: 'SERIAL-2' }])
  })

  it('can be refused, which holds when the key is silent', async () => {
    await enrollVictim()
    expectFailure(await enrollFrom(ELSEWHERE), 403)
    await decide('1', 'denied')
    agents.posture.clock.advance(30 * DAY_MS)
    expectFailure(await enrollFrom(ELSEWHERE), 403)
    expect(await listRequests()).toMatchObject([{ status: 'denied', attempts_count: '2' }])
    await decide('1', 'approved')
    expect((await enrollFrom(ELSEWHERE)).statusCode).toBe(200)
  })

  it('is asked for by ten machines at most for one device', async () => {
    await enrollVictim()
    for (let place = 1; place <= 12; place += 1) {
      agents.posture.clock.advance(1)
      expectFailure(await enrollFrom(`198.51.100.${place}`), 403)
    }
    const addresses = (await listRequests()).map(({ ip_address }) => ip_address)
    expect(addresses).toHaveLength(10)
    expect(addresses).not.toContain('198.51.100.1')
  })
})

describe('the owner of a device', () => {
  it('enrolls it again at once with a secret of their own', async () => {
    const owner = await insertPerson('a@example.com')
    await insertSecret('own', owner)
    await agents.use(await agents.enroll({ enroll_secret: 'own' }))
    expect((await enrollFrom(ELSEWHERE, { enroll_secret: 'own' })).statusCode).toBe(200)
    expect(await listDevices()).toMatchObject([{ owner_person_id: owner }])
  })

  it('stays, whatever secret the device is enrolled with', async () => {
    const [owner, other] = [
      await insertPerson('a@example.com'),
      await insertPerson('b@example.com'),
    ]
    await insertSecret('own', owner)
    await insertSecret('others', other)
    await agents.use(await agents.enroll({ enroll_secret: 'own' }))
    agents.posture.clock.advance(30 * DAY_MS)
    expectFailure(await enrollFrom(ELSEWHERE, { enroll_secret: 'others' }), 403)
    expect(await listRequests()).toMatchObject([{ reason: 'other_owner' }])
    await decide('1', 'approved')
    expect((await enrollFrom(ELSEWHERE, { enroll_secret: 'others' })).statusCode).toBe(200)
    expect(await listDevices()).toMatchObject([{ owner_person_id: owner }])
  })

  it('is who enrolls a device that nobody owns with a secret of their own', async () => {
    await enrollVictim()
    const person = await insertPerson('a@example.com')
    await insertSecret('own', person)
    expectFailure(await enrollFrom(HOME, { enroll_secret: 'own' }), 403)
    agents.posture.clock.advance(3 * DAY_MS)
    expect((await enrollFrom(HOME, { enroll_secret: 'own' })).statusCode).toBe(200)
    expect(await listDevices()).toMatchObject([{ owner_person_id: person }])
  })
})

describe('hardware that two devices claim', () => {
  it.each([
    ['serial', describeSystem('UUID-2', 'serial-1')],
    ['hardware UUID', describeSystem('uuid-1', 'SERIAL-2')],
  ])(
    'a second device with one %s needs an approval, and admins are told of both',
    async (_what, details) => {
      await enrollVictim()
      const second = { host_identifier: 'host-2', host_details: details }
      expectFailure(await enrollFrom(ELSEWHERE, second), 403)
      expect(await listRequests()).toMatchObject([{ reason: 'known_hardware', device_id: '1' }])
      expect(await listDevices()).toMatchObject([{ duplicate_hardware_since: null }])
      await decide('1', 'approved')
      const told = (await listAudit('device.hardware_duplicated')).length
      expect((await enrollFrom(ELSEWHERE, second)).statusCode).toBe(200)
      const since = agents.posture.clock.now()
      const [first, twin] = await listDevices()
      expect([first?.duplicate_hardware_since, twin?.duplicate_hardware_since]).toEqual([
        since,
        since,
      ])
      const targets = (await listAudit('device.hardware_duplicated')).slice(told)
      expect(targets.map(({ target_id }) => target_id).sort()).toEqual([first?.id, twin?.id].sort())

      await agents.posture.change(async (change) =>
        deleteDevice(change, await getDeviceForUpdate(change.tx, twin?.id ?? '')),
      )
      expect(await listDevices()).toMatchObject([{ duplicate_hardware_since: null }])
    },
  )

  it('is told of when the first device has been silent for long', async () => {
    await enrollVictim()
    agents.posture.clock.advance(3 * DAY_MS)
    expect((await enrollFrom(ELSEWHERE, { host_identifier: 'host-2' })).statusCode).toBe(200)
    const since = agents.posture.clock.now()
    expect(await listDevices()).toMatchObject([
      { duplicate_hardware_since: since },
      { duplicate_hardware_since: since },
    ])
  })

  it('does not keep one of the two from enrolling again', async () => {
    await enrollVictim()
    agents.posture.clock.advance(3 * DAY_MS)
    const second = await enrollFrom(ELSEWHERE, { host_identifier: 'host-2' })
    await agents.use(second.json<{ node_key: string }>().node_key)
    expect((await enrollFrom(HOME)).statusCode).toBe(200)
  })

  it('is found also when both come at once', async () => {
    const answers = await Promise.all(
      ['host-1', 'host-2', 'host-3'].map((name) => enrollFrom(HOME, { host_identifier: name })),
    )
    const admitted = answers.filter(({ statusCode }) => statusCode === 200)
    const flags = (await listDevices()).map(({ duplicate_hardware_since: since }) => since !== null)
    expect(flags).toEqual(admitted.map(() => admitted.length > 1))
  })
})

describe('an enrollment secret', () => {
  const enrollMany = async (from: number, to: number) => {
    const statuses: number[] = []
    for (let place = from; place < to; place += 1) {
      const host = { host_identifier: `many-${place}`, host_details: {} }
      statuses.push((await enrollFrom(HOME, host)).statusCode)
    }
    return statuses
  }

  it('with a maximum of uses is told to be nearly used up, then used up, and enrolls no more', async () => {
    await db.updateTable('enrollment_secret').set({ uses_max: 10 }).execute()
    const toCounts = async () => [
      (await listAudit('enrollment_secret.nearly_used_up')).length,
      (await listAudit('enrollment_secret.used_up')).length,
    ]
    const [nearly = 0, used = 0] = await toCounts()
    await enrollMany(0, 8)
    expect(await toCounts()).toEqual([nearly, used])
    await enrollMany(8, 9)
    expect(await toCounts()).toEqual([nearly + 1, used])
    expect(await enrollMany(9, 11)).toEqual([200, 401])
    expect(await toCounts()).toEqual([nearly + 1, used + 1])
  })

  it('takes no more enrollments than its maximum, however many come at once', async () => {
    await db.updateTable('enrollment_secret').set({ uses_max: 3 }).execute()
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, place) =>
        enrollFrom(HOME, { host_identifier: `at-once-${place}`, host_details: {} }),
      ),
    )
    const statuses = answers.map(({ statusCode }) => statusCode).sort((a, b) => a - b)
    expect(statuses).toEqual([200, 200, 200, 401, 401, 401, 401, 401])
  })

  it('is told of once an hour when it is used more often than is usual, also for what is held', async () => {
    await db.updateTable('enrollment_secret').set({ alarm_uses_per_hour: 3 }).execute()
    const told = async () => (await listAudit('enrollment_secret.unusual_use')).length
    const start = await told()
    await enrollVictim()
    expectFailure(await enrollFrom('198.51.100.1'), 403)
    expectFailure(await enrollFrom('198.51.100.2'), 403)
    expect(await told()).toBe(start)
    for (let place = 3; place < 6; place += 1) await enrollFrom(`198.51.100.${place}`)
    expect(await told()).toBe(start + 1)
    agents.posture.clock.advance(DAY_MS)
    await enrollFrom('198.51.100.1')
    expect(await told()).toBe(start + 1)
    const secret = await db.selectFrom('enrollment_secret').selectAll().executeTakeFirstOrThrow()
    expect(secret).toMatchObject({ use_count: '1', hour_uses: '1' })
    expect(secret.unusual_use_at).not.toBeNull()
  })
})
