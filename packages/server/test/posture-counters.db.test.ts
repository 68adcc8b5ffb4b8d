/*
 * Everything that is counted or derived as it changes, against a recount: after any order of operations
 * it must be what the records say. `HELIOGRAPH_TEST_OPERATIONS` sets how many there are in one run.
 */
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { listCounterDrift } from './support/list-counter-drift.ts'
import { reevaluateEveryDevice } from '../src/posture/devices/reevaluate-every-device.ts'
import { listOperations, operation, type Operation } from './posture-operations.ts'
import {
  applyOperation,
  createPostureWorld,
  settleDue,
  type PostureWorld,
} from './posture-world.ts'
import { DAY_MS } from '../src/platform/clock.ts'
import { postureRetention } from '../src/posture/posture-retention-store.ts'
import { createTestDatabase } from './support/database.ts'
import { runRetention } from './support/run-retention.ts'

const SEED = 20_260_407
const OPERATIONS = Number(process.env['HELIOGRAPH_TEST_OPERATIONS'] ?? 800)
const RECOUNTS = 12
/** Of each operation, with room for a busy machine. */
const OPERATION_MAX_MS = 150

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())

test(
  `counters, members, statuses and trust equal a recount during ${OPERATIONS} operations (seed ${SEED})`,
  async () => {
    const world = await createPostureWorld(db)
    const done = new Map<Operation['kind'], number>()
    const recountEvery = Math.ceil(OPERATIONS / RECOUNTS)
    for (const [index, item] of listOperations(OPERATIONS, SEED).entries()) {
      world.posture.clock.advance(1_000)
      if (await applyOperation(world, item)) done.set(item.kind, (done.get(item.kind) ?? 0) + 1)
      if ((index + 1) % recountEvery === 0) await expectConsistent(world, `${index + 1} operations`)
    }
    await expectConsistent(world, 'the last operation')
    const neverDone = [...new Set(listOperations(OPERATIONS, SEED).map(({ kind }) => kind))].filter(
      (kind) => !done.has(kind),
    )
    expect(neverDone, 'were refused every time').toEqual([])
  },
  60_000 + OPERATIONS * OPERATION_MAX_MS,
)

test('the same holds when the changes run at the same time', async () => {
  const operations = fc.array(operation, { minLength: 40, maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(operations, async (items) => {
      const world = await createPostureWorld(db)
      for (let start = 0; start < items.length; start += 5) {
        world.posture.clock.advance(1_000)
        await Promise.all(items.slice(start, start + 5).map((item) => applyOperation(world, item)))
      }
      await expectConsistent(world, 'changes at the same time')
    }),
    { numRuns: 4, endOnFailure: true },
  )
})

test('the same holds after everything that may go by its age is gone', async () => {
  const world = await createPostureWorld(db)
  for (const item of listOperations(300, SEED)) {
    world.posture.clock.advance(1_000)
    await applyOperation(world, item)
  }
  const days = 1
  const policies = postureRetention({
    checkTransitionRetentionDays: days,
    statusTransitionRetentionDays: days,
    resolvedIssueRetentionDays: days,
    liveQueryResultRetentionDays: days,
  }).filter(({ name }) => name !== 'live query results')
  // Grace periods and exemptions stay as they are: only what has happened is older than a day.
  const later = new Date(world.posture.clock.now().getTime() + 2 * DAY_MS)
  let count = 0
  for (const policy of policies) count += (await runRetention(db, policy, later)).count
  expect(count).toBeGreaterThan(50)
  await expectConsistent(world, 'the sweep of retention')
})

async function expectConsistent(world: PostureWorld, when: string): Promise<void> {
  const { posture } = world
  expect(await listCounterDrift(db), `counters of checks after ${when}`).toEqual([])
  const { rows: wrongGroups } = await sql`
    select id from device_group g where members_count <> (
      select count(*) from device_group_member m where m.device_group_id = g.id)`.execute(db)
  expect(wrongGroups, `members of groups after ${when}`).toEqual([])
  expect(await listLiveDrift(), `counters of live queries after ${when}`).toEqual([])
  const { rows: wrongTrust } = await sql`
    select id from person p where first_device_trusted_at is null and exists (
      select from device d where d.owner_person_id = p.id and d.registered_at is not null
        and d.deletion_requested_at is null)`.execute(db)
  expect(wrongTrust, `trust in people after ${when}`).toEqual([])
  await settleDue(world)
  const before = await readStatuses()
  await posture.change((change) => reevaluateEveryDevice(change))
  expect(await readStatuses(), `statuses of devices after ${when}`).toEqual(before)
}

/** Campaigns whose counters, all their stripes together, or whose results, are not those of their devices. */
async function listLiveDrift() {
  const { rows } = await sql`
    with counted as (
      select campaign_id, sum(waiting) as waiting, sum(successful) as successful, sum(errored) as errored
      from live_query_counter group by 1
      having (sum(waiting), sum(successful), sum(errored)) <> (0, 0, 0)
    ), actual as (
      select campaign_id,
        count(*) filter (where state = 'waiting') as waiting,
        count(*) filter (where state = 'successful') as successful,
        count(*) filter (where state = 'errored') as errored
      from live_query_target group by 1
    )
    (select * from counted except select * from actual)
    union all (select * from actual except select * from counted)
    union all
    select campaign_id, 0, 0, 0 from live_query_target target
    where (state <> 'waiting') <> exists (
      select from live_query_result result where result.campaign_id = target.campaign_id
        and result.device_id = target.device_id and result.revision = target.revision)`.execute(db)
  return rows
}

function readStatuses() {
  return db
    .selectFrom('device')
    .select(['id', 'auth_state', 'compliance', 'will_block_at'])
    .orderBy('id')
    .execute()
}
