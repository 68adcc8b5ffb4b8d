import { fastify } from 'fastify'
import { expect, test, vi } from 'vitest'
import { DatabaseNetwork } from '../platform/db/database-network.ts'
import type { Listener } from '../platform/db/listener.ts'
import { registerHealth } from '../platform/http/health.ts'
import type { Part } from '../platform/part.ts'
import { collectHealth, createSupervisor } from './supervisor.ts'

const log = { error: vi.fn() }
const network = new DatabaseNetwork()

/** A listener that remembers what is done with it. */
function createFakeListener(events: string[]) {
  const channels = new Map<string, Set<(payload: string) => void>>()
  const listener: Listener = {
    start: () => void events.push('start listener'),
    subscribe: (channel, handler) => {
      const handlers = channels.get(channel) ?? new Set()
      channels.set(channel, handlers.add(handler))
      return () => void handlers.delete(handler)
    },
    onReconnect: () => () => undefined,
    holdLock: async () => undefined,
    tryLock: async () => true,
    unlock: async () => undefined,
    whenListening: async () => undefined,
    disconnectedForMs: () => 0,
    stop: async () => void events.push('stop listener'),
  }
  const tell = (channel: string, payload: string) => {
    for (const handler of channels.get(channel) ?? []) handler(payload)
  }
  return { listener, tell }
}

function createPart(name: string, events: string[], more: Partial<Part> = {}): Part {
  return {
    name,
    roles: [],
    start: async () => void events.push(`start ${name}`),
    stop: async () => void events.push(`stop ${name}`),
    ...more,
  }
}

test('parts start in order and stop in reverse, the listener around them; waiting ends first', async () => {
  const events: string[] = []
  const { listener } = createFakeListener(events)
  const parts = [
    createPart('one', events, { endWaiting: () => void events.push('end waiting of one') }),
    createPart('two', events),
  ]
  const supervisor = createSupervisor(parts, { listener, network }, log)
  expect(events).toEqual([])
  await supervisor.start()
  await Promise.all([supervisor.stop(), supervisor.stop()])
  expect(events).toEqual([
    'start listener',
    'start one',
    'start two',
    'end waiting of one',
    'stop two',
    'stop one',
    'stop listener',
  ])
})

test('when a part cannot start, it and those before it are stopped, and its error is thrown', async () => {
  const events: string[] = []
  const { listener } = createFakeListener(events)
  const parts = [
    createPart('one', events),
    createPart('two', events, { start: () => Promise.reject(new Error('the port is taken')) }),
    createPart('three', events),
  ]
  await expect(createSupervisor(parts, { listener, network }, log).start()).rejects.toThrow(
    'the port is taken',
  )
  expect(events).toEqual(['start listener', 'start one', 'stop two', 'stop one', 'stop listener'])
})

test('when a part cannot stop, the others are stopped all the same, and its error is thrown', async () => {
  const events: string[] = []
  const { listener } = createFakeListener(events)
  const parts = [
    createPart('one', events),
    createPart('two', events, { stop: () => Promise.reject(new Error('still busy')) }),
    createPart('three', events),
  ]
  const supervisor = createSupervisor(parts, { listener, network }, log)
  await supervisor.start()
  events.length = 0
  await expect(supervisor.stop()).rejects.toThrow('still busy')
  expect(events).toEqual(['stop three', 'stop one', 'stop listener'])
})

test('a start that fails is told although stopping fails too, which is logged', async () => {
  log.error.mockClear()
  const events: string[] = []
  const { listener } = createFakeListener(events)
  const failure = new Error('still busy')
  const parts = [
    createPart('one', events, { stop: () => Promise.reject(failure) }),
    createPart('two', events, { start: () => Promise.reject(new Error('the port is taken')) }),
  ]
  await expect(createSupervisor(parts, { listener, network }, log).start()).rejects.toThrow(
    'the port is taken',
  )
  expect(events.at(-1)).toBe('stop listener')
  expect(log.error).toHaveBeenCalledWith({ err: failure }, expect.any(String))
})

test('a part hears its channels from before it starts until it is stopped', async () => {
  const events: string[] = []
  const { listener, tell } = createFakeListener(events)
  const heard: string[] = []
  const supervisor = createSupervisor(
    [
      createPart('one', events, {
        channels: { news: (payload) => heard.push(payload) },
        start: async () => tell('news', 'while it starts'),
        stop: async () => tell('news', 'while it stops'),
      }),
    ],
    { listener, network },
    log,
  )
  tell('news', 'before')
  await supervisor.start()
  tell('news', 'while it runs')
  await supervisor.stop()
  expect(heard).toEqual(['while it starts', 'while it runs'])
})

test('a part that is unwell makes the process not ready, by its name and without its reason', async () => {
  const { listener } = createFakeListener([])
  let isWell = true
  const health = () => (isWell ? Promise.resolve() : Promise.reject(new Error('no key can sign')))
  const parts = [createPart('one', []), createPart('signing keys', [], { health })]
  const http = fastify()
  registerHealth(http, collectHealth(parts, listener))
  const ready = await http.inject({ url: '/readyz' })
  expect([ready.statusCode, ready.json()]).toEqual([
    200,
    { status: 'ok', checks: { listener: 'ok', signing_keys: 'ok' } },
  ])
  isWell = false
  const unready = await http.inject({ url: '/readyz' })
  expect([unready.statusCode, unready.json()]).toEqual([
    503,
    { status: 'unavailable', checks: { listener: 'ok', signing_keys: 'failed' } },
  ])
  await http.close()
})

test('a process that has heard nothing of the database for long is not ready; a reconnect is no fault', async () => {
  let disconnectedForMs = 5_000
  const http = fastify()
  registerHealth(http, collectHealth([], { disconnectedForMs: () => disconnectedForMs }))
  const ready = await http.inject({ url: '/readyz' })
  expect([ready.statusCode, ready.json()]).toEqual([
    200,
    { status: 'ok', checks: { listener: 'ok' } },
  ])
  disconnectedForMs = 31_000
  const { statusCode, body } = await http.inject({ url: '/readyz' })
  expect([statusCode, JSON.parse(body)]).toEqual([
    503,
    { status: 'unavailable', checks: { listener: 'failed' } },
  ])
  await http.close()
})
