import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { createAttemptWatch, STREAMS_PER_ATTEMPT_MAX } from './attempt-events.ts'

it('ends the oldest stream of a sign-in that has too many, and none of another', async () => {
  const watch = createAttemptWatch()
  const other = new PassThrough()
  watch.addStream('b', other)
  const streams = Array.from({ length: STREAMS_PER_ATTEMPT_MAX + 1 }, () => new PassThrough())
  for (const stream of streams) watch.addStream('a', stream)
  expect(streams.map(({ writableEnded }) => writableEnded)).toEqual([
    true,
    ...streams.slice(1).map(() => false),
  ])
  expect(other.writableEnded).toBe(false)
  watch.end()
  expect([...streams, other].every(({ writableEnded }) => writableEnded)).toBe(true)
})
