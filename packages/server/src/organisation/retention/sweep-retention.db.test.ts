import { sql } from 'kysely'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, systemClock, type Clock } from '../../platform/clock.ts'
import type {
  RetentionBatch,
  RetentionPolicy,
  RunRetentionBatch,
} from '../../platform/retention/retention-policy.ts'
import { createRetentionPart } from './retention-part.ts'
import { sweepRetention } from './sweep-retention.ts'

const database = await createTestDatabase()
const { db } = database
afterAll(() => database.close())
beforeEach(async () => {
  await db.deleteFrom('retention_state').execute()
  await db.deleteFrom('retention_clock').execute()
})

const BATCHES_MAX = 5

/** A pass of five batches; its places count them. */
const fiveBatches: RunRetentionBatch = async (_tx, { after }) => {
  const number = Number(after?.[0] ?? 0) + 1
  return { count: 10, place: [String(number)], isOver: number >= BATCHES_MAX }
}

function policy(name: string, { runBatch = fiveBatches, ...rest }: Partial<RetentionPolicy> = {}) {
  const common = { name, keepsMs: DAY_MS, passEveryMs: HOUR_MS, batchSize: 100 }
  return { ...common, ...rest, runBatch: vi.fn(runBatch) }
}

interface RunOptions {
  readonly runMsMax?: number
  readonly signal?: AbortSignal
}

const sweep = (
  policies: readonly RetentionPolicy[],
  options: RunOptions = {},
  clocks: { readonly clock?: Clock; readonly machineClock?: Clock } = {},
) =>
  sweepRetention(
    policies,
    { db, clock: systemClock, machineClock: systemClock, ...clocks },
    { runMsMax: 60_000, signal: new AbortController().signal, ...options },
  )

const stateOf = (name: string) =>
  db.selectFrom('retention_state').selectAll().where('policy', '=', name).executeTakeFirstOrThrow()

const placesOf = ({ runBatch }: ReturnType<typeof policy>) =>
  runBatch.mock.calls.map(([, { after }]) => after?.[0] ?? null)

/** As if the last passes had ended so long ago. */
const age = (ms: number) =>
  sql`update retention_state set pass_started_at = pass_started_at - ${ms} * interval '1 millisecond',
    pass_finished_at = pass_finished_at - ${ms} * interval '1 millisecond'`.execute(db)

describe('a sweep', () => {
  it('makes a pass batch by batch, notes what it did, and not again before its time', async () => {
    const one = policy('one')
    await sweep([one])
    expect(placesOf(one)).toEqual([null, '1', '2', '3', '4'])
    expect(await stateOf('one')).toMatchObject({
      keeps_ms: String(DAY_MS),
      place: null,
      pass_count: '50',
      total_count: '50',
      pass_finished_at: expect.any(Date) as Date,
      error: null,
    })
    await sweep([one])
    expect(one.runBatch).toHaveBeenCalledTimes(BATCHES_MAX)
    await age(HOUR_MS)
    await sweep([one])
    expect(one.runBatch).toHaveBeenCalledTimes(2 * BATCHES_MAX)
    expect(await stateOf('one')).toMatchObject({ pass_count: '50', total_count: '100' })
  })

  it('goes on where a process that stopped or died was, however often it is started', async () => {
    const one = policy('one')
    for (let start = 0; start < BATCHES_MAX; start += 1) {
      const stopping = new AbortController()
      const stopped: RunRetentionBatch = async (...call): Promise<RetentionBatch> => {
        stopping.abort()
        return one.runBatch(...call)
      }
      await sweep([{ ...one, runBatch: stopped }], { signal: stopping.signal })
    }
    expect(placesOf(one)).toEqual([null, '1', '2', '3', '4'])
    expect((await stateOf('one')).pass_finished_at).toEqual(expect.any(Date))
  })

  it('begins no batch after its time, and none of a policy that keeps for ever', async () => {
    const one = policy('one')
    const endless = policy('endless', { keepsMs: null })
    await sweep([one, endless], { runMsMax: 0 })
    expect(one.runBatch).not.toHaveBeenCalled()
    await sweep([one, endless])
    expect(endless.runBatch).not.toHaveBeenCalled()
    expect((await stateOf('endless')).keeps_ms).toBeNull()
  })

  it('lets no backlog hold up the other policies', async () => {
    const stopping = new AbortController()
    let turns = 0
    const backlog = policy('a backlog', {
      runBatch: async () => {
        turns += 1
        if (turns > BATCHES_MAX) stopping.abort()
        return { count: 1, place: ['x'], isOver: false }
      },
    })
    const small = policy('small')
    await sweep([backlog, small], { signal: stopping.signal })
    expect((await stateOf('small')).pass_finished_at).toEqual(expect.any(Date))
    expect((await stateOf('a backlog')).pass_finished_at).toBeNull()
  })

  it('tells of a policy that fails after the others have had their turn, and tries it again', async () => {
    const failing = policy('failing')
    failing.runBatch.mockRejectedValueOnce(new Error('the disk is full'))
    const one = policy('one')
    await expect(sweep([failing, one])).rejects.toThrow('the retention of failing failed')
    expect((await stateOf('failing')).error).toBe('the disk is full')
    expect(one.runBatch).toHaveBeenCalledTimes(BATCHES_MAX)
    await sweep([failing, one])
    expect(await stateOf('failing')).toMatchObject({
      error: null,
      pass_finished_at: expect.any(Date) as Date,
    })
  })

  it('makes a pass that seems to have ended in a time to come: the clock was set back', async () => {
    const one = policy('one')
    await sweep([one])
    await age(-DAY_MS)
    await sweep([one])
    expect(one.runBatch).toHaveBeenCalledTimes(2 * BATCHES_MAX)
  })

  it('deletes nothing while the clock of the database is far ahead of that of the machine', async () => {
    const one = policy('one')
    const ahead: Clock = { now: () => new Date(systemClock.now().getTime() + 2 * HOUR_MS) }
    await expect(sweep([one], {}, { clock: ahead })).rejects.toThrow('120 minutes ahead')
    expect(one.runBatch).not.toHaveBeenCalled()
    await sweep([one])
    expect(one.runBatch).toHaveBeenCalledTimes(BATCHES_MAX)
  })

  it('does not delete everything because every clock is a year ahead for a while', async () => {
    let aheadMs = 0
    const clock: Clock = { now: () => new Date(systemClock.now().getTime() + aheadMs) }
    const one = policy('one', { passEveryMs: 0 })
    const sweepOnce = async () => {
      one.runBatch.mockClear()
      await sweep([one], {}, { clock, machineClock: clock })
      const before = one.runBatch.mock.calls[0]?.[1].before.getTime() ?? 0
      return before + DAY_MS - systemClock.now().getTime()
    }
    expect(await sweepOnce()).toBeLessThanOrEqual(0)
    aheadMs = 365 * DAY_MS
    expect(await sweepOnce()).toBeLessThanOrEqual(10 * MINUTE_MS)
    expect(await sweepOnce()).toBeLessThanOrEqual(20 * MINUTE_MS)
    aheadMs = 0
    expect(await sweepOnce()).toBeLessThanOrEqual(0)
    // After a month without the service it catches up.
    aheadMs = 30 * DAY_MS
    await sweepOnce()
    expect(await sweepOnce()).toBeGreaterThan(10 * MINUTE_MS - MINUTE_MS)
  })

  it('takes back what a batch did when its progress cannot be written', async () => {
    await sql`create table if not exists swept (id integer primary key)`.execute(db)
    await sql`insert into swept values (1)`.execute(db)
    const one = policy('one', {
      runBatch: async (tx) => {
        await sql`delete from swept`.execute(tx)
        return { count: -1, place: null, isOver: true }
      },
    })
    await expect(sweep([one])).rejects.toThrow()
    expect((await sql`select from swept`.execute(db)).rows).toHaveLength(1)
  })

  it('ends when the process stops, however much is left', async () => {
    const endless = policy('endless', {
      runBatch: async () => ({ count: 1, place: ['x'], isOver: false }),
    })
    const part = createRetentionPart({ clock: systemClock, db }, [endless])
    const [job] = part.jobs ?? []
    if (job?.kind !== 'periodic') throw new Error('no job')
    const running = job.run()
    await vi.waitFor(() => expect(endless.runBatch.mock.calls.length).toBeGreaterThan(3))
    part.endWaiting?.()
    await running
    expect((await stateOf('endless')).place).toEqual(['x'])
  })

  it('begins a pass over rows that stay where the last one ended, and prepares each pass once', async () => {
    const preparePass = vi.fn(async () => undefined)
    const one = policy('one', { isResumed: true, preparePass })
    await sweep([one])
    await age(HOUR_MS)
    await sweep([one])
    expect(placesOf(one)).toEqual([null, '1', '2', '3', '4', '5'])
    expect(preparePass).toHaveBeenCalledTimes(2)
  })
})
