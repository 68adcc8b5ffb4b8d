import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { insertDevice } from '../../../test/support/factories.ts'
import { createStreamsApi, type StreamsApi } from '../../../test/support/streams-api.ts'
import { UNWATCHED } from '../../../test/support/test-engine.ts'
import { verifyAuditChain } from '../../changes/audit/verify-audit-chain.ts'
import { HOUR_MS } from '../../platform/clock.ts'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
import { restateStreams } from '../../signals/history/restate-streams.ts'
import { followOrigin } from './follow-origin.ts'
import { createOriginPart } from './origin-part.ts'

let streams: StreamsApi
const warn = vi.fn()

beforeAll(async () => {
  streams = await createStreamsApi()
  await streams.createStream({ name: 'follower' })
})
afterAll(() => streams.close())
beforeEach(async () => {
  await streams.db.deleteFrom('database_origin').execute()
  await streams.db.deleteFrom('ssf_restatement').execute()
  await follow()
  warn.mockClear()
})

const config = { failoverRestatementSeconds: 600 }
const follow = () => {
  const { db, runChange } = streams
  return followOrigin({ config, db, runChange, log: { debug: vi.fn(), warn } })
}

const noted = () => streams.db.selectFrom('database_origin').selectAll().executeTakeFirstOrThrow()
const countRestatements = async () =>
  (await streams.db.selectFrom('ssf_restatement').selectAll().execute()).length

const pretend = (values: Partial<Awaited<ReturnType<typeof noted>>>) =>
  streams.db.updateTable('database_origin').set(values).execute()

it('notes where the database is, and does nothing while it stays there', async () => {
  const first = await noted()
  expect(first.system_identifier).toMatch(/^\d+$/)
  expect(first.timeline_id).toBe('1')
  await follow()
  expect(await noted()).toEqual(first)
  expect(await countRestatements()).toBe(0)
  expect(warn).not.toHaveBeenCalled()
})

describe('receivers are told everything anew', () => {
  it.each([
    ['on another server', { system_identifier: '1', is_synchronous: true }],
    ['after a standby took over that may lack something', { timeline_id: '7' }],
    [
      'after a recovery to a point in time',
      { timeline_id: '7', is_synchronous: true, noted_at: new Date(0) },
    ],
  ])('%s, once, whoever looks', async (_name, values) => {
    const { rows } = await lastIds()
    await pretend(values)
    if ('noted_at' in values) await streams.db.deleteFrom('database_clock').execute()
    await Promise.all([follow(), follow(), follow()])
    expect(await countRestatements()).toBe(1)
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ streams_told_anew: 1 }),
      expect.stringContaining('restored or replaced'),
    )
    expect((await noted()).timeline_id).toBe('1')
    const after = await lastIds()
    expect(BigInt(after.rows)).toBeGreaterThan(BigInt(rows))
    const entry = await streams.db
      .selectFrom('audit_entry')
      .select('action')
      .orderBy('sequence', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    expect(entry.action).toBe('database.restored')
    expect(await verifyAuditChain(streams.db)).toMatchObject({ isWhole: true })
  })

  async function lastIds(): Promise<{ rows: string }> {
    const { id } = await streams.db
      .insertInto('device_group')
      .values({
        name: `group ${performance.now()}`,
        created_at: streams.clock.now(),
        updated_at: streams.clock.now(),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    return { rows: id }
  }
})

it('is told nothing anew after a standby took over that had everything', async () => {
  await pretend({ timeline_id: '7', is_synchronous: true })
  await follow()
  expect(await countRestatements()).toBe(0)
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ previous_timeline_id: '7' }),
    'a standby took over, which had everything',
  )
})

describe('after a standby took over that had everything', () => {
  afterEach(async () => {
    await streams.db.deleteFrom('device').execute()
    await streams.db.deleteFrom('delivery').execute()
  })

  it('receivers are told of the devices whose status changed shortly before, and of no others', async () => {
    const recent = await insertDevice(streams.db)
    const recentAgain = await insertDevice(streams.db)
    const old = await insertDevice(streams.db)
    await insertTransition(old, HOUR_MS)
    for (const device of [recent, recentAgain, recent]) await insertTransition(device, 0)
    for (const device of [recent, recentAgain, old]) await answerChecks(device)
    await pretend({ timeline_id: '7', is_synchronous: true })
    expect((await Promise.all([follow(), follow()])).filter(Boolean)).toEqual(['complete'])
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ devices_told_anew: 2 }),
      'a standby took over, which had everything',
    )
    while ((await restateStreams(streams)) !== undefined);
    expect(await listTold()).toEqual([`device:${recent}`, `device:${recentAgain}`])
    const { checks_ran_at: ranAt } = await streams.db
      .selectFrom('device')
      .select('checks_ran_at')
      .where('id', '=', old)
      .executeTakeFirstOrThrow()
    // Nobody is asked for its checks.
    expect(ranAt).not.toBeNull()
  })

  it('receivers that are being told everything anew are told no less', async () => {
    await insertTransition(await insertDevice(streams.db), 0)
    await pretend({ system_identifier: '1' })
    expect(await follow()).toBe('incomplete')
    await pretend({ timeline_id: '7', is_synchronous: true })
    expect(await follow()).toBe('complete')
    const rows = await streams.db.selectFrom('ssf_restatement').selectAll().execute()
    expect(rows).toMatchObject([{ since_transition_id: null }])
  })

  const insertTransition = (deviceId: string, agoMs: number) =>
    streams.db
      .insertInto('device_status_transition')
      .values({
        device_id: deviceId,
        occurred_at: new Date(streams.clock.now().getTime() - agoMs),
        from_state: 'Good',
        to_state: 'Blocked',
        from_compliance: 'compliant',
        to_compliance: 'not-compliant',
        initiating_entity: 'policy',
        actor_name: 'test',
        reason: 'test',
        txn: 'test',
      })
      .execute()

  const answerChecks = (deviceId: string) =>
    streams.db
      .updateTable('device')
      .set({ checks_ran_at: streams.clock.now() })
      .where('id', '=', deviceId)
      .execute()

  async function listTold() {
    const rows = await streams.db
      .selectFrom('delivery')
      .select('subject_key')
      .orderBy('subject_key')
      .execute()
    return rows.map(({ subject_key: key }) => key)
  }
})

it('is told everything anew after a standby took over much earlier or later than a failover takes', async () => {
  await pretend({
    timeline_id: '7',
    is_synchronous: true,
    noted_at: new Date(Date.now() + 24 * HOUR_MS),
  })
  await follow()
  expect(await countRestatements()).toBe(1)
})

it('a standby is the same one when commits begin or stop to wait for it, and another after it took over', async () => {
  const { noted_at: since } = await noted()
  await pretend({ is_synchronous: true })
  await follow()
  expect(await noted()).toMatchObject({ is_synchronous: false, noted_at: since })
  await pretend({ timeline_id: '7' })
  await follow()
  expect((await noted()).noted_at.getTime()).toBeGreaterThan(since.getTime())
})

it('is noted without a reconnect that commits have stopped waiting for a standby', async () => {
  const { db } = streams
  const log = { ...SILENT_LOGGER, warn }
  const part = createOriginPart({ ...streams, config, preparedDb: db, log, topics: UNWATCHED })
  await part.start?.()
  try {
    await pretend({ is_synchronous: true })
    await vi.waitFor(async () => expect((await noted()).is_synchronous).toBe(false), 15_000)
    // A look that finds nothing new writes nothing.
    const { rows } = await sql<{ xmin: string }>`select xmin::text from database_origin`.execute(db)
    await follow()
    expect(
      (await sql<{ xmin: string }>`select xmin::text from database_origin`.execute(db)).rows,
    ).toEqual(rows)
  } finally {
    await part.stop?.()
  }
})
