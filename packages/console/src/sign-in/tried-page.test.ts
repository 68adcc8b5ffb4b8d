import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { noteTried, readTried } from './tried-page.ts'

const CHECKS = '/console/checks?name=a+b'

beforeEach(() => {
  const kept = new Map<string, string>()
  vi.useFakeTimers()
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('the page that the sign-in has gone on to', () => {
  it('is kept for as long as a slow line may need to lead back from it', () => {
    noteTried(CHECKS)
    vi.advanceTimersByTime(10 * 60_000)
    expect(readTried()).toBe(CHECKS)
  })

  it('is forgotten once whoever comes from there visits the sign-in anew', () => {
    noteTried(CHECKS)
    vi.advanceTimersByTime(3_600_000)
    expect(readTried()).toBeUndefined()
  })

  it('is forgotten once somebody signs in', () => {
    noteTried(CHECKS)
    noteTried(undefined)
    expect(readTried()).toBeUndefined()
  })
})
