import { PassThrough } from 'node:stream'
import { afterEach, expect, it, vi } from 'vitest'
import { createAttemptWatch, streamAttempt, STREAMS_PER_ATTEMPT_MAX } from './attempt-events.ts'

afterEach(() => void vi.useRealTimers())

const ON_ITS_WAY = { isUndecided: false, isOver: false }
const proceed = async () => undefined

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

it('shows within seconds what no process could tell of any more, and looks no more once it is closed', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let stage = 'device'
  let revision = 1
  const read = vi.fn(async () => ({ revision, json: { stage }, ...ON_ITS_WAY }))
  const readRevision = vi.fn(async () => revision)
  const stream = streamAttempt(createAttemptWatch(), 'a', { read, readRevision, proceed })
  let shown = ''
  stream.on('data', (part: Buffer) => (shown += part.toString()))
  await vi.waitFor(() => expect(shown).toContain('device'))
  vi.advanceTimersByTime(5_000)
  await vi.waitFor(() => expect(readRevision).toHaveBeenCalledOnce())
  stage = 'posture'
  revision = 2
  vi.advanceTimersByTime(5_000)
  await vi.waitFor(() => expect(shown).toContain('posture'))
  stream.destroy()
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(0))
  expect(read).toHaveBeenCalledTimes(2)
})

it('asks once more for what comes while it asks, however often it hears of it', async () => {
  const watch = createAttemptWatch()
  const state = { revision: 1, json: {}, ...ON_ITS_WAY }
  const first = Promise.withResolvers<typeof state>()
  const read = vi.fn(async () => ({ ...state, isOver: true })).mockReturnValueOnce(first.promise)
  const stream = streamAttempt(watch, 'a', { read, readRevision: async () => 1, proceed })
  for (let turn = 0; turn < 5; turn += 1) watch.hear(JSON.stringify({ id: 'a' }))
  first.resolve(state)
  stream.resume()
  await new Promise((resolve) => stream.once('end', resolve))
  expect(read).toHaveBeenCalledTimes(2)
})

it('asks a database that is slow no more than once at a time', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const watch = createAttemptWatch()
  const read = vi.fn(async () => ({ revision: 1, json: {}, ...ON_ITS_WAY }))
  const answered = Promise.withResolvers<number>()
  const readRevision = vi.fn(() => answered.promise)
  const stream = streamAttempt(watch, 'a', { read, readRevision, proceed })
  await new Promise((resolve) => stream.once('data', resolve))
  vi.advanceTimersByTime(5_000)
  await vi.waitFor(() => expect(readRevision).toHaveBeenCalledOnce())
  for (let turn = 0; turn < 5; turn += 1) vi.advanceTimersByTime(5_000)
  expect(readRevision).toHaveBeenCalledOnce()
  watch.hear(JSON.stringify({ id: 'a' }))
  answered.resolve(1)
  await vi.waitFor(() => expect(read).toHaveBeenCalledTimes(2))
  expect(readRevision).toHaveBeenCalledOnce()
  stream.destroy()
})

it('shows what it has shown while nothing can be read, and what there is afterwards', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const watch = createAttemptWatch()
  const state = { revision: 1, json: { stage: 'device' }, ...ON_ITS_WAY }
  const read = vi.fn(async () => state)
  const stream = streamAttempt(watch, 'a', { read, readRevision: async () => 1, proceed })
  let shown = ''
  stream.on('data', (part: Buffer) => (shown += part.toString()))
  await vi.waitFor(() => expect(shown).toContain('device'))
  read.mockRejectedValueOnce(new Error('the database is away'))
  watch.hear(JSON.stringify({ id: 'a' }))
  await vi.waitFor(() => expect(read).toHaveBeenCalledTimes(2))
  expect(stream.readableEnded).toBe(false)
  read.mockResolvedValueOnce({ ...state, json: { stage: 'posture' } })
  vi.advanceTimersByTime(5_000)
  await vi.waitFor(() => expect(shown).toContain('posture'))
  stream.destroy()
})

it('goes on again where nobody has decided yet, one at a time, and no more once somebody has', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const watch = createAttemptWatch()
  const state = { revision: 1, json: { stage: 'posture' }, ...ON_ITS_WAY, isUndecided: true }
  const read = vi.fn(async () => state)
  const tried = Promise.withResolvers<undefined>()
  const going = vi.fn(proceed).mockReturnValueOnce(tried.promise)
  const steps = { read, readRevision: async () => 1, proceed: going }
  const stream = streamAttempt(watch, 'a', steps)
  let shown = ''
  stream.on('data', (part: Buffer) => (shown += part.toString()))
  await vi.waitFor(() => expect(shown).toContain('posture'))
  vi.advanceTimersByTime(10_000)
  expect(going).toHaveBeenCalledTimes(1)
  // It has failed: the attempt stands where it stood.
  tried.resolve(undefined)
  await tried.promise
  await vi.waitFor(() => {
    vi.advanceTimersByTime(5_000)
    expect(going).toHaveBeenCalledTimes(2)
  })
  read.mockResolvedValue({ ...state, json: { stage: 'granted' }, isUndecided: false })
  watch.hear(JSON.stringify({ id: 'a' }))
  await vi.waitFor(() => expect(shown).toContain('granted'))
  const before = going.mock.calls.length
  vi.advanceTimersByTime(20_000)
  expect(going).toHaveBeenCalledTimes(before)
  stream.destroy()
})
