import type { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DEFAULT_LIVE_SETTINGS, LiveFeed } from './live-feed.ts'
import type { WatchRequest } from './watcher.ts'

const { intervalMs, heartbeatMs, stalledMs } = DEFAULT_LIVE_SETTINGS

let feed: LiveFeed

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  })
  feed = new LiveFeed()
})

afterEach(() => {
  feed.end()
  vi.useRealTimers()
})

function watch(request: Partial<WatchRequest> = {}): Readable {
  return feed.watch({
    watcherKey: 'admin:1',
    lastEventId: undefined,
    watchMaxMs: undefined,
    mayHear: () => true,
    mayWatch: async () => true,
    ...request,
  })
}

/** What a reader gets, as it comes. */
function follow(stream: Readable): {
  readonly text: () => string
  readonly topics: () => string[][]
} {
  let text = ''
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return {
    text: () => text,
    topics: () =>
      [...text.matchAll(/event: changed\ndata: (.*)\n/g)].map(
        ([, data = '']) => (JSON.parse(data) as { topics: string[] }).topics,
      ),
  }
}

const lastIdIn = (text: string) => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1]

/** Lets timers and streams go on. */
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

describe('who watches', () => {
  it('is told at once of the first change, and of all that follow within a second together', async () => {
    const read = follow(watch())
    feed.hear(['devices:1'])
    await pass(0)
    expect(read.topics()).toEqual([['devices:1']])
    feed.hear(['devices:2'])
    feed.hear(['issues:5', 'devices:2'])
    await pass(intervalMs - 1)
    expect(read.topics()).toHaveLength(1)
    await pass(1)
    expect(read.topics()).toEqual([['devices:1'], ['devices:2', 'issues:5']])
  })

  it('is told of all that it missed when it comes back, and nothing when it missed nothing', async () => {
    const first = watch()
    const before = follow(first)
    feed.hear(['devices:1'])
    await pass(intervalMs)
    const lastEventId = lastIdIn(before.text())
    const upToDate = follow(watch({ lastEventId }))
    first.destroy()
    feed.hear(['devices:2'])
    await pass(intervalMs)
    feed.hear(['issues:3'])
    await pass(intervalMs)
    const read = follow(watch({ lastEventId }))
    await pass(0)
    expect(read.topics()).toEqual([['devices:2', 'issues:3']])
    expect(upToDate.topics()).toEqual([['devices:2'], ['issues:3']])
  })

  it.each(['00000000-1', 'nonsense', '-', `${'9'.repeat(400)}-1`])(
    'is told that anything may have changed when it stopped at the unknown place %s',
    async (lastEventId) => {
      const read = follow(watch({ lastEventId }))
      await pass(0)
      expect(read.topics()).toEqual([['all']])
    },
  )

  it('is told of what it may hear alone, also of what it missed', async () => {
    const mayHear = (topic: string) => topic.startsWith('devices') || topic === 'all'
    const first = watch({ mayHear })
    const read = follow(first)
    const other = follow(watch())
    feed.hear(['devices:1', 'webhooks:4'])
    await pass(intervalMs)
    feed.hear(['webhooks:5'])
    await pass(intervalMs)
    feed.hear(['devices:2'])
    await pass(intervalMs)
    expect(read.topics()).toEqual([['devices:1'], ['devices:2']])
    expect(other.topics()).toHaveLength(3)
    first.destroy()
    const lastEventId = lastIdIn(read.text())
    feed.hear(['devices:3', 'webhooks:6'])
    await pass(intervalMs)
    feed.hear(['webhooks:7'])
    await pass(intervalMs)
    const again = follow(watch({ lastEventId, mayHear }))
    await pass(0)
    expect(again.topics()).toEqual([['devices:3']])
    const unknown = follow(watch({ lastEventId: 'other-7', mayHear }))
    await pass(0)
    expect(unknown.topics()).toEqual([['all']])
  })

  it('is told that anything may have changed when it comes back after too much', async () => {
    const before = follow(watch())
    await pass(0)
    const lastEventId = lastIdIn(before.text())
    for (let index = 0; index < 201; index += 1) {
      feed.hear([`devices:${index}`])
      await pass(intervalMs)
    }
    const read = follow(watch({ lastEventId }))
    await pass(0)
    expect(read.topics()).toEqual([['all']])
  })

  it('hears a comment from time to time, so that nothing between takes the connection for dead', async () => {
    const read = follow(watch())
    await pass(2 * heartbeatMs)
    expect(read.text().match(/^: /gm)).toHaveLength(2)
    expect(read.topics()).toEqual([])
  })

  it('is closed with a last word when it may not watch any more, and left when that cannot be known', async () => {
    const ended = watch({ mayWatch: async () => false })
    const unknown = watch({ mayWatch: () => Promise.reject(new Error('the database is away')) })
    const read = follow(ended)
    follow(unknown)
    feed.askAgain()
    await pass(0)
    expect(read.text()).toMatch(/event: ended\ndata: \{\}\n\n$/)
    expect([ended.destroyed, unknown.destroyed, feed.watcherCount]).toEqual([true, false, 1])
    const late = watch({ mayWatch: async () => false })
    follow(late)
    await pass(heartbeatMs)
    expect(late.destroyed).toBe(true)
  })

  it('leaves after the time that it asked for', async () => {
    const short = watch({ watchMaxMs: 3_000 })
    const none = follow(watch({ watchMaxMs: 0, lastEventId: 'unknown' }))
    follow(short)
    await pass(2_999)
    expect([short.destroyed, none.topics(), feed.watcherCount]).toEqual([false, [['all']], 1])
    await pass(1)
    expect([short.destroyed, feed.watcherCount]).toEqual([true, 0])
  })
})

describe('a slow reader', () => {
  it('holds a bounded amount, is told of all that it missed when it reads on, and is cut off when it does not', async () => {
    const slow = watch()
    const dead = watch()
    for (let index = 0; index < 500; index += 1) {
      feed.hear(Array.from({ length: 8 }, (_each, id) => `devices:${index * 1_000_000 + id}`))
      await pass(50)
      feed.hear([`issues:${index}`])
      await pass(50)
    }
    expect(slow.readableLength).toBeLessThan(20_000)
    const read = follow(slow)
    await pass(intervalMs)
    expect(
      read
        .topics()
        .flat()
        .some((topic) => topic === 'issues' || topic === 'issues:499'),
    ).toBe(true)
    await pass(stalledMs + heartbeatMs)
    expect([slow.destroyed, dead.destroyed]).toEqual([false, true])
  })
})

describe('a feed', () => {
  it('refuses a caller who watches too often, and anybody beyond the bound', () => {
    feed = new LiveFeed({ ...DEFAULT_LIVE_SETTINGS, watchersMax: 3, watchersOfOneMax: 2 })
    watch()
    const second = watch()
    expect(() => watch()).toThrow(expect.objectContaining({ code: 'rate_limited' }) as Error)
    watch({ watcherKey: 'admin:2' })
    expect(() => watch({ watcherKey: 'admin:3' })).toThrow(
      expect.objectContaining({ code: 'unavailable' }) as Error,
    )
    second.destroy()
  })

  it('gives the place of a watcher that has left to another one', async () => {
    feed = new LiveFeed({ ...DEFAULT_LIVE_SETTINGS, watchersMax: 1 })
    const first = watch()
    first.destroy()
    await pass(0)
    expect(() => watch()).not.toThrow()
  })

  it('ends every connection when the service stops, and takes no other', async () => {
    const stream = watch()
    follow(stream)
    feed.hear(['devices'])
    feed.end()
    await pass(0)
    expect([stream.destroyed, feed.watcherCount, vi.getTimerCount()]).toEqual([true, 0, 0])
    expect(() => watch()).toThrow(expect.objectContaining({ code: 'unavailable' }) as Error)
  })
})
