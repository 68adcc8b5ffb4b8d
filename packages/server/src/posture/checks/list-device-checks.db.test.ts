import { sql } from 'kysely'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { emptyTables } from '../../../test/support/empty-tables.ts'
import { createPosture, PASS, type Posture } from '../../../test/support/posture-fixtures.ts'
import { IS_BLOCKING_ALLOWED, IS_TARGETED } from './check-scope-store.ts'
import { listDeviceChecks } from './list-device-checks.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

let posture: Posture
let checkIds: string[]
let deviceIds: string[]

beforeEach(async () => {
  await emptyTables(db, 'device', 'posture_check', 'device_group')
  posture = createPosture(db)
  checkIds = []
  for (let place = 0; place < 4; place += 1) checkIds.push(await posture.insertCheck())
  deviceIds = []
  for (const platform of ['darwin', 'darwin', 'linux'] as const) {
    deviceIds.push(await posture.insertDevice({ platform }))
  }
})

type Tx = Parameters<typeof listDeviceChecks>[0]

/** How the checks apply to the devices as one statement says it, of which nothing is kept. */
async function readAsIs(tx: Tx) {
  const { rows } = await sql`
    select d.id as "deviceId", c.id as "checkId", c.name, c.revision, c.paused_at is not null as "isPaused",
      ${IS_TARGETED} as "isTargeted", ${IS_BLOCKING_ALLOWED} as "isBlockingAllowed",
      r.status, r.ran_at as "ranAt"
    from device d cross join posture_check c
    left join check_result r on r.device_id = d.id and r.check_id = c.id
    order by d.id, c.id`.execute(tx)
  return rows
}

async function readListed(tx: Tx) {
  const asked = deviceIds.map((deviceId) => ({ deviceId, checkIds }))
  return (await listDeviceChecks(tx, asked)).map((check) => ({
    deviceId: check.deviceId,
    checkId: check.checkId,
    name: check.name,
    revision: check.revision,
    isPaused: check.isPaused,
    isTargeted: check.isTargeted,
    isBlockingAllowed: check.isBlockingAllowed,
    status: check.stored?.status ?? null,
    ranAt: check.stored?.ranAt ?? null,
  }))
}

const compare = async (tx: Tx) => expect(await readListed(tx)).toEqual(await readAsIs(tx))

async function insertGroup(name: string): Promise<string> {
  const at = posture.clock.now()
  const { id } = await db
    .insertInto('device_group')
    .values({ name, created_at: at, updated_at: at })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

test('what is kept of checks is never older than the database', async () => {
  const [first = '', second = '', third = ''] = checkIds
  const [mac = '', otherMac = ''] = deviceIds
  const group = await insertGroup('some')
  const other = await insertGroup('others')
  const at = posture.clock.now()
  const rule = (check_id: string, kind: string, values: object) => (tx: Tx) =>
    tx
      .insertInto('check_group_rule')
      .values({ check_id, rule: kind, device_group_id: null, platform: null, ...values } as never)
      .execute()
  const join = (device_group_id: string, device_id: string) => (tx: Tx) =>
    tx
      .insertInto('device_group_member')
      .values({ device_group_id, device_id, added_at: at })
      .execute()
  const update = (values: object) => (tx: Tx) =>
    tx.updateTable('posture_check').set(values).where('id', '=', first).execute()
  const steps: ((tx: Tx) => Promise<unknown>)[] = [
    update({ name: 'renamed' }),
    update({ paused_at: at }),
    update({ paused_at: null, revision: 2 }),
    update({ rollout_percent: 40 }),
    rule(second, 'targeted', { device_group_id: group }),
    join(group, mac),
    rule(second, 'blocking_excluded', { device_group_id: other }),
    join(other, mac),
    join(other, otherMac),
    rule(third, 'blocking_allowed', { platform: 'linux' }),
    rule(third, 'excluded', { device_group_id: other }),
    (tx) => tx.updateTable('device').set({ platform: 'linux' }).where('id', '=', mac).execute(),
    (tx) => tx.deleteFrom('device_group_member').where('device_id', '=', mac).execute(),
    (tx) => tx.deleteFrom('device_group').where('id', '=', group).execute(),
    (tx) => tx.deleteFrom('posture_check').where('id', '=', third).execute(),
  ]
  for (const step of steps) {
    await posture.change(async ({ tx }) => {
      await compare(tx)
      await step(tx)
      await compare(tx)
    })
    await posture.change(({ tx }) => compare(tx))
  }
})

test('two changes in one transaction are told apart, and one that is undone is forgotten', async () => {
  const [first = ''] = checkIds
  const rename = (tx: Tx, name: string) =>
    tx.updateTable('posture_check').set({ name }).where('id', '=', first).execute()
  const undone = posture.change(async ({ tx }) => {
    for (const name of ['once', 'twice', 'once more']) {
      await rename(tx, name)
      await compare(tx)
    }
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  await posture.change(({ tx }) => compare(tx))
})

test('results and what is left out of the list are those of each device', async () => {
  const [first = '', second = '', ...rest] = checkIds
  const [mac = '', otherMac = ''] = deviceIds
  await posture.report(mac, Object.fromEntries(checkIds.map((id) => [id, PASS])))
  await posture.change(async ({ tx }) => {
    await compare(tx)
    const [all] = await listDeviceChecks(tx, [{ deviceId: mac, checkIds }])
    expect(all).toMatchObject({ hasOtherChecks: false, hasOtherFollowers: false })
    expect(all?.following).not.toBeNull()
    const asked = [
      { deviceId: otherMac, checkIds: [second, first] },
      { deviceId: mac, checkIds: rest },
      { deviceId: '999999999', checkIds },
    ]
    const listed = await listDeviceChecks(tx, asked)
    expect(listed.map(({ checkId, deviceId }) => [deviceId, checkId])).toEqual([
      ...rest.map((id) => [mac, id]),
      [otherMac, first],
      [otherMac, second],
    ])
    const isLeftOut = listed.map((check) => [check.hasOtherChecks, check.hasOtherFollowers])
    expect(isLeftOut).toEqual([
      [true, true],
      [true, true],
      [true, false],
      [true, false],
    ])
  })
})
