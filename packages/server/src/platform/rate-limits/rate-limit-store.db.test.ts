import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { refuseSlots } from '../../../test/support/full-disk.ts'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { systemClock } from '../clock.ts'
import { createRateLimitStore, endStaleRateLimits, takeRateLimit } from './rate-limit-store.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(async () => {
  await database.close()
})

const start = new Date('2026-01-02T03:04:05.678Z')
const after = (ms: number) => new Date(start.getTime() + ms)

/** How many of `count` requests at one moment are accepted. */
async function takeMany(bucket: string, capacity: number, count: number, now: Date) {
  let accepted = 0
  for (let index = 0; index < count; index += 1) {
    if ((await takeRateLimit(database.db, bucket, capacity, { now })).isAllowed) accepted += 1
  }
  return accepted
}

describe('the shared rate limit', () => {
  it('accepts 270 requests in a window and refuses the next', async () => {
    expect(await takeMany('window', 270, 270, start)).toBe(270)
    const refused = await takeRateLimit(database.db, 'window', 270, { now: after(1_000) })
    expect(refused).toEqual({
      isAllowed: false,
      limit: 270,
      remaining: 0,
      resetEpochSeconds: Math.ceil(after(60_000).getTime() / 1_000),
      resetSeconds: 59,
    })
  })

  it('frees each place exactly 60 seconds after it was taken', async () => {
    expect(await takeMany('sliding', 3, 1, start)).toBe(1)
    expect(await takeMany('sliding', 3, 2, after(30_000))).toBe(2)
    expect(await takeMany('sliding', 3, 5, after(59_999))).toBe(0)
    expect(await takeMany('sliding', 3, 5, after(60_000))).toBe(1)
    expect(await takeMany('sliding', 3, 5, after(89_999))).toBe(0)
    expect(await takeMany('sliding', 3, 5, after(90_000))).toBe(2)
  })

  it('accepts never more than the capacity in any window, whatever the rhythm', async () => {
    const accepted: number[] = []
    let at = 0
    for (let index = 0; index < 400; index += 1) {
      at += (index * 7_919) % 4_000
      if ((await takeRateLimit(database.db, 'rhythm', 7, { now: after(at) })).isAllowed)
        accepted.push(at)
    }
    for (const end of accepted) {
      expect(accepted.filter((time) => time > end - 60_000 && time <= end).length).toBeLessThan(8)
    }
    expect(accepted.length).toBeGreaterThan(50)
  })

  it('lets refused requests take nothing', async () => {
    await takeMany('refused', 2, 2, start)
    await takeMany('refused', 2, 50, after(59_000))
    expect(await takeMany('refused', 2, 3, after(60_000))).toBe(2)
  })

  it('counts down, and tells when the oldest request leaves the window', async () => {
    const first = await takeRateLimit(database.db, 'told', 2, { now: start })
    const second = await takeRateLimit(database.db, 'told', 2, { now: after(10_500) })
    expect([first.remaining, first.resetSeconds]).toEqual([1, 60])
    expect([second.remaining, second.resetSeconds]).toEqual([0, 50])
    expect(second.resetEpochSeconds).toBe(first.resetEpochSeconds)
  })

  it('keeps buckets apart', async () => {
    expect(await takeMany('one', 1, 2, start)).toBe(1)
    expect(await takeMany('other', 1, 2, start)).toBe(1)
  })

  it('starts anew when the setting changes', async () => {
    expect(await takeMany('changed', 5, 5, start)).toBe(5)
    expect(await takeMany('changed', 3, 5, after(1))).toBe(3)
    expect(await takeMany('changed', 6, 9, after(2))).toBe(6)
  })

  it('does not lock anybody out when the clock is set back', async () => {
    expect(await takeMany('clock', 2, 2, after(3_600_000))).toBe(2)
    expect(await takeMany('clock', 2, 3, start)).toBe(2)
    expect(await takeMany('small-step', 2, 2, after(500))).toBe(2)
    expect(await takeMany('small-step', 2, 1, start)).toBe(0)
  })

  it('never over-admits when many connections ask at once', async () => {
    const limiter = createRateLimitStore(database.db, systemClock)
    const decisions = await Promise.all(
      Array.from({ length: 400 }, async () => limiter.take('busy', 270)),
    )
    expect(decisions.filter((decision) => decision.isAllowed)).toHaveLength(270)
    const remaining = decisions.filter(({ isAllowed }) => isAllowed).map((one) => one.remaining)
    expect(new Set(remaining).size).toBe(270)
  })

  it('is kept by the process alone while nothing can be stored', async () => {
    const limiter = createRateLimitStore(database.db, systemClock)
    await limiter.take('full', 2)
    await refuseSlots(database.db)
    try {
      expect(await limiter.take('full', 2)).toMatchObject({ isAllowed: true, remaining: 1 })
      expect(await limiter.take('full', 2)).toMatchObject({ isAllowed: true, remaining: 0 })
      expect(await limiter.take('full', 2)).toMatchObject({ isAllowed: false, limit: 2 })
    } finally {
      await sql`drop trigger full_disk on rate_limit_slot`.execute(database.db)
    }
    expect(await limiter.take('full', 2)).toMatchObject({ isAllowed: true, remaining: 0 })
  })

  it('forgets buckets that nobody uses, and no others', async () => {
    await takeRateLimit(database.db, 'idle', 5, { now: start })
    await createRateLimitStore(database.db, systemClock).take('live', 5)
    const { count } = await endStaleRateLimits(database.db, {
      before: after(60_000),
      after: null,
      limit: 1_000,
    })
    expect(count).toBeGreaterThan(0)
    const { rows } = await sql<{ bucket: string }>`
      select distinct bucket from rate_limit_slot union select bucket from rate_limit
    `.execute(database.db)
    const left = rows.map((row) => row.bucket)
    expect(left).toContain('live')
    expect(left).not.toContain('idle')
    expect((await createRateLimitStore(database.db, systemClock).take('live', 5)).remaining).toBe(3)
  })
})
