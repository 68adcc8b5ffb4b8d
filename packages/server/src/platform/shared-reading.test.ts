import { expect, it, vi } from 'vitest'
import { shareReading } from './shared-reading.ts'

function share(freshMs = 1_000) {
  let nowMs = 0
  const clock = { now: () => new Date(nowMs) }
  const read = vi.fn((key: string) => Promise.resolve(`${key} at ${nowMs}`))
  const reading = shareReading(read, { clock, freshMs, keysMax: 2 })
  return { read, reading, advance: (ms: number) => (nowMs += ms) }
}

it('is one for all who ask within its time, and another afterwards', async () => {
  const { read, reading, advance } = share()
  const both = [reading('a'), reading('a')]
  expect(await Promise.all(both)).toEqual(['a at 0', 'a at 0'])
  advance(999)
  expect(await reading('a')).toBe('a at 0')
  advance(1)
  expect(await reading('a')).toBe('a at 1000')
  expect(read).toHaveBeenCalledTimes(2)
})

it('is made anew after the clock was set back', async () => {
  const { reading, advance } = share()
  await reading('a')
  advance(-5_000)
  expect(await reading('a')).toBe('a at -5000')
})

it('is kept for as many keys as are allowed, the latest ones', async () => {
  const { read, reading } = share()
  for (const key of ['a', 'b', 'c', 'b', 'c', 'a']) await reading(key)
  expect(read.mock.calls.flat()).toEqual(['a', 'b', 'c', 'a'])
})

it('that failed is not kept', async () => {
  const { read, reading } = share()
  read.mockRejectedValueOnce(new Error('away'))
  await expect(Promise.all([reading('a'), reading('a')])).rejects.toThrow('away')
  expect(await reading('a')).toBe('a at 0')
  expect(read).toHaveBeenCalledTimes(2)
})
