import type { Readable } from 'node:stream'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { StateWatchers } from './state-watchers.ts'

const streams: Readable[] = []

afterEach(() => {
  for (const stream of streams.splice(0)) stream.destroy()
})

function follow(watchers: StateWatchers, key: string, read: () => Promise<string>) {
  const stream = watchers.watch({ key, read: async () => ({ text: await read(), isMoving: true }) })
  streams.push(stream)
  const seen = { text: '', isEnded: false, stream }
  stream.on('data', (chunk: Buffer) => (seen.text += chunk.toString()))
  stream.on('end', () => (seen.isEnded = true))
  return seen
}

describe('an open page', () => {
  it('is told how things stand, and each change once', async () => {
    const watchers = new StateWatchers({ movingMs: 1 })
    let state = 'asking'
    let reads = 0
    const seen = follow(watchers, 'a', async () => {
      reads += 1
      return state
    })
    await vi.waitFor(() => expect(reads).toBeGreaterThan(3))
    state = 'passing'
    await vi.waitFor(() => expect(seen.text).toContain('passing'))
    expect(seen.text).toBe(
      'retry: 2000\n\ndata: {"state":"asking"}\n\ndata: {"state":"passing"}\n\n',
    )
  })

  it('costs nothing any more once it is closed', async () => {
    const watchers = new StateWatchers({ movingMs: 1 })
    let reads = 0
    const { stream } = follow(watchers, 'a', async () => String((reads += 1)))
    await vi.waitFor(() => expect(reads).toBeGreaterThan(1))
    stream.destroy()
    await new Promise((resolve) => stream.once('close', resolve))
    const before = reads
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(reads).toBeLessThanOrEqual(before + 1)
  })

  it('is let go when what it shows is gone, when its time is over, and when the service stops', async () => {
    const gone = follow(new StateWatchers(), 'a', async () => Promise.reject(new Error('gone')))
    const late = follow(new StateWatchers({ lifetimeMs: 0 }), 'a', async () => 'x')
    const stopping = new StateWatchers()
    const stopped = follow(stopping, 'a', async () => 'x')
    stopping.end()
    for (const seen of [gone, late, stopped])
      await vi.waitFor(() => expect(seen.isEnded).toBe(true))
    expect(() => follow(stopping, 'a', async () => 'x')).toThrow('No more pages')
  })

  it('is one of so many, of one person and of all', () => {
    const watchers = new StateWatchers({ watchersMax: 3, watchersOfOneMax: 2 })
    const open = (key: string) => follow(watchers, key, async () => 'x')
    open('a')
    open('a')
    expect(() => open('a')).toThrow('too many times')
    open('b')
    expect(() => open('c')).toThrow('No more pages')
  })
})
