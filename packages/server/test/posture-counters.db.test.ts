import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { listCounterDrift } from '../src/checks/check-counter-store.ts'
import { submitCheckRun } from '../src/checks/submit-check-run.ts'
import {
  addDevicesToGroup,
  removeDeviceFromGroup,
} from '../src/device-groups/change-memberships.ts'
import { deleteDueDevices } from '../src/devices/delete-due-devices.ts'
import { reevaluateEveryDevice } from '../src/devices/reevaluate-every-device.ts'
import { requestDeviceDeletion } from '../src/devices/request-device-deletion.ts'
import { setDeviceOwner } from '../src/devices/set-device-owner.ts'
import { createStatusScheduler } from '../src/devices/status-scheduler.ts'
import { unregisterDevice } from '../src/devices/unregister-device.ts'
import { AppError } from '../src/platform/app-error.ts'
import { createTestDatabase } from './support/database.ts'
import { insertDeviceGroup, insertPerson } from './support/factories.ts'
import { createPosture, type Posture } from './support/posture-fixtures.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

const STATUSES = ['PASS', 'FAIL', 'ERROR', 'UNKNOWN', 'INAPPLICABLE']
const DEVICES = 5

const index = fc.nat(DEVICES - 1)
const operation = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('report' as const),
      device: index,
      check: fc.nat(1),
      status: fc.constantFrom(...STATUSES),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('run_on_person' as const),
      person: fc.nat(1),
      status: fc.constantFrom(...STATUSES),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('join' as const), device: index, group: fc.nat(1) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('leave' as const), device: index, group: fc.nat(1) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('own' as const), device: index, person: fc.nat(1) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unregister' as const), device: index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), device: index }) },
)
type Operation = typeof operation extends fc.Arbitrary<infer Item> ? Item : never

interface World {
  readonly posture: Posture
  readonly checks: readonly string[]
  readonly personCheck: string
  readonly groups: readonly string[]
  readonly people: readonly string[]
  readonly devices: string[]
}

test('counters, members, statuses and trust equal a recount after any order of changes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 25, maxLength: 40 }), async (operations) => {
      const world = await createWorld()
      for (const item of operations) {
        world.posture.clock.advance(1_000)
        await apply(world, item)
      }
      await expectConsistent(world)
    }),
    { numRuns: 6 },
  )
}, 120_000)

test('the same holds when the changes run at the same time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 15, maxLength: 25 }), async (operations) => {
      const world = await createWorld()
      for (let start = 0; start < operations.length; start += 5) {
        world.posture.clock.advance(1_000)
        await Promise.all(operations.slice(start, start + 5).map((item) => apply(world, item)))
      }
      await expectConsistent(world)
    }),
    { numRuns: 4 },
  )
}, 120_000)

/** The first check runs on members of the first group, the second spares those of the second. */
async function createWorld(): Promise<World> {
  await sql`truncate device, posture_check, device_group, person, removed_host
    restart identity cascade`.execute(db)
  const posture = createPosture(db)
  const groups = [await insertDeviceGroup(db), await insertDeviceGroup(db)]
  const checks = [await posture.insertCheck(), await posture.insertCheck()]
  const personCheck = await posture.insertCheck({ type: 'external', target_type: 'people' })
  const rules = [
    { check_id: checks[0] ?? '', rule: 'targeted' as const, device_group_id: groups[0] ?? '' },
    { check_id: checks[1] ?? '', rule: 'excluded' as const, device_group_id: groups[1] ?? '' },
  ]
  await db.insertInto('check_group_rule').values(rules).execute()
  const people = [
    await insertPerson(db, { email: '0@example.com' }),
    await insertPerson(db, { email: '1@example.com' }),
  ]
  const devices: string[] = []
  for (let count = 0; count < DEVICES; count += 1) devices.push(await posture.insertDevice())
  return { posture, checks, personCheck, groups, people, devices }
}

/** Refusals are part of the game: a device may be gone, or no member. */
async function apply(world: World, item: Operation): Promise<void> {
  try {
    await perform(world, item)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
  }
}

async function perform(world: World, item: Operation): Promise<void> {
  const { posture, checks, groups, people, devices, personCheck } = world
  const { deps } = posture
  const device = 'device' in item ? (devices[item.device] ?? '') : ''
  switch (item.kind) {
    case 'report': {
      const rows = [{ KOLIDE_CHECK_STATUS: item.status }]
      await posture.report(device, { [checks[item.check] ?? '']: rows })
      return
    }
    case 'run_on_person': {
      const rows = [{ KOLIDE_CHECK_STATUS: item.status }]
      const subject = { by: 'person_id', value: people[item.person] ?? '' } as const
      await posture.change((open) =>
        submitCheckRun(open, deps, { checkId: personCheck, subject, rows }),
      )
      return
    }
    case 'join':
      await posture.change((open) =>
        addDevicesToGroup(open, deps, groups[item.group] ?? '', [device]),
      )
      return
    case 'leave':
      await posture.change((open) =>
        removeDeviceFromGroup(open, deps, groups[item.group] ?? '', device),
      )
      return
    case 'own':
      await posture.change((open) =>
        setDeviceOwner(open, device, { email: `${item.person}@example.com` }),
      )
      return
    case 'unregister':
      await posture.change((open) => unregisterDevice(open, device))
      return
    case 'delete':
      await posture.change((open) => requestDeviceDeletion(open, device, 0))
      await deleteDueDevices({ db, runChange: posture.runChange, logError: rethrow })
      devices[item.device] = await posture.insertDevice()
  }
}

function rethrow(error: unknown): never {
  throw error
}

async function expectConsistent({ posture }: World): Promise<void> {
  expect(await listCounterDrift(db)).toEqual([])
  const { rows: wrongGroups } = await sql`
    select id from device_group g where members_count <> (
      select count(*) from device_group_member m where m.device_group_id = g.id)`.execute(db)
  expect(wrongGroups).toEqual([])
  const { rows: wrongTrust } = await sql`
    select id from person p where first_device_trusted_at is null and exists (
      select from device d where d.owner_person_id = p.id and d.registered_at is not null
        and d.deletion_requested_at is null)`.execute(db)
  expect(wrongTrust).toEqual([])
  await settle(posture)
  const before = await readStatuses()
  await posture.change((change) => reevaluateEveryDevice(change, posture.deps))
  expect(await readStatuses()).toEqual(before)
}

async function settle({ clock, deps, runChange }: Posture): Promise<void> {
  await createStatusScheduler({ ...deps, db, clock, runChange, logError: rethrow }).settleDue()
}

function readStatuses() {
  return db
    .selectFrom('device')
    .select(['id', 'auth_state', 'compliance', 'will_block_at'])
    .orderBy('id')
    .execute()
}
