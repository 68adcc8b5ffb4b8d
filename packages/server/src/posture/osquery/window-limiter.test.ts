import { describe, expect, it } from 'vitest'
import { createWindowLimiter } from './window-limiter.ts'

describe('a limit by the minute', () => {
  it('ends with the minute', () => {
    const limiter = createWindowLimiter(2)
    limiter.count('a', 0)
    limiter.count('a', 1_000)
    expect(limiter.isExhausted('a', 59_999)).toBe(true)
    expect(limiter.isExhausted('a', 60_000)).toBe(false)
    expect(limiter.isExhausted('b', 1_000)).toBe(false)
  })

  it('ends with a clock that is set back', () => {
    const limiter = createWindowLimiter(2)
    limiter.count('a', 3_600_000)
    limiter.count('a', 3_600_000)
    expect(limiter.isExhausted('a', 0)).toBe(false)
    limiter.count('a', 0)
    expect(limiter.isExhausted('a', 1)).toBe(false)
  })
})
