import { describe, expect, it } from 'vitest'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/clock.ts'
import {
  findRetryDelayMs,
  parseRetryAfter,
  RETRY_AFTER_MAX_MS,
  RETRY_DELAYS_MS,
  withJitter,
} from './retry-schedule.ts'

const middle = (): number => 0.5

describe('retry schedule', () => {
  it('tries ten times: at once, then 5 s, 1 min, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h and 20 h later', () => {
    const delays = Array.from({ length: 10 }, (_, index) =>
      findRetryDelayMs(RETRY_DELAYS_MS, index + 1, {}, middle),
    )
    expect(delays).toEqual([
      5 * SECOND_MS,
      1 * MINUTE_MS,
      5 * MINUTE_MS,
      30 * MINUTE_MS,
      2 * HOUR_MS,
      5 * HOUR_MS,
      10 * HOUR_MS,
      14 * HOUR_MS,
      20 * HOUR_MS,
      undefined,
    ])
  })

  it('varies each delay by a fifth at most', () => {
    expect(withJitter(1_000, () => 0)).toBe(800)
    expect(withJitter(1_000, () => 0.999_999)).toBe(1_200)
  })

  it('ssf-T122 waits longer when the receiver asks for it, never shorter, and a day at most', () => {
    const delay = (retryAfterMs: number) =>
      findRetryDelayMs(RETRY_DELAYS_MS, 2, { retryAfterMs }, middle)
    expect(delay(1_000)).toBe(1 * MINUTE_MS)
    expect(delay(10 * MINUTE_MS)).toBe(10 * MINUTE_MS)
    expect(delay(1_000 * HOUR_MS)).toBe(RETRY_AFTER_MAX_MS)
  })

  it('waits no shorter than the floor of its channel, and spreads what waits for it', () => {
    const delay = (attempts: number, random: () => number) =>
      findRetryDelayMs(RETRY_DELAYS_MS, attempts, { floorMs: 1 * MINUTE_MS }, random)
    expect(delay(1, () => 0)).toBe(1 * MINUTE_MS)
    expect(delay(1, () => 0.999_999)).toBe(72 * SECOND_MS)
    expect(delay(3, middle)).toBe(5 * MINUTE_MS)
    expect(delay(10, middle)).toBeUndefined()
  })

  const now = new Date('2026-01-02T03:04:05Z')
  it.each([
    ['120', 120_000],
    [' 7 ', 7_000],
    ['Fri, 02 Jan 2026 03:05:05 GMT', 60_000],
    ['Fri, 02 Jan 2026 03:00:00 GMT', undefined],
    ['0', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['tomorrow', undefined],
    ['2026-01-03', undefined],
    ['99999999999999999999', undefined],
    [undefined, undefined],
  ])('reads Retry-After %j as %j ms', (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected)
  })
})
