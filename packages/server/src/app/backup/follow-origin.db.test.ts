import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createStreamsApi, type StreamsApi } from '../../../test/support/streams-api.ts'
import { UNWATCHED } from '../../../test/support/test-engine.ts'
import { verifyAuditChain } from '../../changes/audit/verify-audit-chain.ts'
import { HOUR_MS } from '../../platform/clock.ts'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
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

const follow = (): Promise<void> => {
  const { db, runChange } = streams
  return followOrigin({ db, runChange, log: { debug: vi.fn(), warn } })
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

it('is told everything anew after a standby took over much earlier or later than a failover takes', async () => {
  await pretend({
    timeline_id: '7',
    is_synchronous: true,
    noted_at: new Date(Date.now() + 24 * HOUR_MS),
  })
  await follow()
  expect(await countRestatements()).toBe(1)
})

it('is noted without a reconnect that commits have stopped waiting for a standby', async () => {
  const { db } = streams
  const log = { ...SILENT_LOGGER, warn }
  const part = createOriginPart({ ...streams, preparedDb: db, log, topics: UNWATCHED })
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
