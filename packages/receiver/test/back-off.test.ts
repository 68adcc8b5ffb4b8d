import { expect, test } from 'vitest'
import { nextDelayMs, sleep } from '../src/back-off.ts'
import { parseRetryAfter } from '../src/transmitter-request.ts'

test('the pause doubles up to its bound, with at most half of it taken off by chance', () => {
  const options = { backOffMs: 100, backOffMaxMs: 1_000, random: () => 0 }
  expect([0, 1, 2, 3, 4, 99].map((failures) => nextDelayMs(options, failures))).toEqual([
    100, 200, 400, 800, 1_000, 1_000,
  ])
  expect(nextDelayMs({ ...options, random: () => 0.999 }, 0)).toBeGreaterThan(50)
})

test('the pause is never shorter than the transmitter asks for, within a bound', () => {
  const options = { backOffMs: 100, retryAfterMaxMs: 5_000 }
  expect(nextDelayMs(options, 0, 3_000)).toBe(3_000)
  expect(nextDelayMs(options, 0, 999_999_999)).toBe(5_000)
})

test('a pause that no timer can take is a long one', async () => {
  const controller = new AbortController()
  const pauses = [2 ** 31, Number.POSITIVE_INFINITY].map(async (delayMs) => {
    await sleep(delayMs, controller.signal)
    return 'over'
  })
  const later = new Promise((resolve) => setTimeout(resolve, 20, 'waiting'))
  expect(await Promise.race([...pauses, later])).toBe('waiting')
  controller.abort()
  expect(await Promise.all(pauses)).toEqual(['over', 'over'])
})

test('Retry-After is read as seconds or as a date, and ignored when it is neither', () => {
  const nowMs = Date.parse('Sat, 21 Nov 2026 07:00:00 GMT')
  expect(parseRetryAfter('7', nowMs)).toBe(7_000)
  expect(parseRetryAfter('Sat, 21 Nov 2026 07:00:05 GMT', nowMs)).toBe(5_000)
  expect(parseRetryAfter('Sat, 21 Nov 2026 06:00:00 GMT', nowMs)).toBe(0)
  expect(parseRetryAfter('soon', nowMs)).toBeUndefined()
  expect(parseRetryAfter(null, nowMs)).toBeUndefined()
})

test('an aborted signal ends a pause at once', async () => {
  const controller = new AbortController()
  const pause = sleep(3_600_000, controller.signal)
  controller.abort()
  await pause
  await sleep(3_600_000, controller.signal)
})

test('a pause of nothing lets timers run, as one that aborts', async () => {
  const controller = new AbortController()
  setTimeout(() => controller.abort(), 5)
  let pauses = 0
  while (!controller.signal.aborted && pauses < 100_000) {
    await sleep(0, controller.signal)
    pauses += 1
  }
  expect(controller.signal.aborted).toBe(true)
})
