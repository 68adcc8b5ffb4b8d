import { getEventListeners } from 'node:events'
import { afterEach, expect, test, vi } from 'vitest'
import { createVerificationWaiter } from '../src/index.ts'
import { untilAborted } from '../src/until-aborted.ts'
import { requestTransmitter, type FetchFunction } from '../src/transmitter-request.ts'

afterEach(() => vi.restoreAllMocks())

function send(signal: AbortSignal, fetch: FetchFunction, timeoutMs = 60_000) {
  const url = 'https://transmitter.example.com/'
  const request = { method: 'GET', url, headers: {}, responseBytesMax: 100, timeoutMs } as const
  return requestTransmitter({ ...request, signal, fetch })
}

const answer: FetchFunction = () => Promise.resolve(Response.json({}))
const fail: FetchFunction = () => Promise.reject(new Error('down'))
const hang: FetchFunction = (_url, { signal }) =>
  new Promise((_resolve, reject) => {
    if (signal?.aborted === true) reject(new Error('aborted'))
    signal?.addEventListener('abort', () => reject(new Error('aborted')))
  })

test('a signal that outlives many requests keeps nothing of them', async () => {
  const any = vi.spyOn(AbortSignal, 'any')
  const { signal } = new AbortController()
  await send(signal, answer)
  await send(signal, fail).catch(() => undefined)
  await send(signal, hang, 1).catch(() => undefined)
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  expect(any).not.toHaveBeenCalled()
})

test('a request ends by its time or by its signal, whichever is first', async () => {
  const controller = new AbortController()
  await expect(send(controller.signal, hang, 1)).rejects.toMatchObject({ code: 'timeout' })
  const waiting = send(controller.signal, hang)
  controller.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'aborted' })
  await expect(send(controller.signal, hang)).rejects.toMatchObject({ code: 'aborted' })
})

test('a request ends although what sends it looks at no signal', async () => {
  const deaf: FetchFunction = () => new Promise(() => undefined)
  const endless: FetchFunction = () => Promise.resolve(new Response(new ReadableStream()))
  for (const fetch of [deaf, endless]) {
    const controller = new AbortController()
    await expect(send(controller.signal, fetch, 1)).rejects.toMatchObject({ code: 'timeout' })
    const waiting = send(controller.signal, fetch)
    controller.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' })
  }
})

test('whoever waits no longer keeps neither a timer nor the signal, although the work never ends', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout')
  const cleared = vi.spyOn(globalThis, 'clearTimeout')
  const controller = new AbortController()
  const never = new Promise<never>(() => undefined)
  await expect(untilAborted(never, controller.signal, 1)).rejects.toThrow('no answer')
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  const waiting = untilAborted(never, controller.signal, 60_000)
  const timer: unknown = timers.mock.results.at(-1)?.value
  controller.abort()
  await expect(waiting).rejects.toThrow('aborted')
  expect(cleared).toHaveBeenCalledWith(timer)
})

test('a time that no timer can take is a long one', async () => {
  const { signal } = new AbortController()
  const late: FetchFunction = async (url, init) => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    init.signal?.throwIfAborted()
    return answer(url, init)
  }
  expect((await send(signal, late, Number.POSITIVE_INFINITY)).status).toBe(200)
})

test('whoever waits for others, or for an event, may wait for ever', async () => {
  const later = (value: string) => new Promise((resolve) => setTimeout(resolve, 20, value))
  expect(await untilAborted(later('value'), undefined, Number.POSITIVE_INFINITY)).toBe('value')
  const waiting = createVerificationWaiter().wait('s', { waitMs: Number.POSITIVE_INFINITY })
  waiting.catch(() => undefined)
  expect(await Promise.race([waiting, later('still waiting')])).toBe('still waiting')
})

test('what is waited for with a time that is none is heard all the same: its failure ends no process', async () => {
  const unheard: unknown[] = []
  const note = (error: unknown) => unheard.push(error)
  process.on('unhandledRejection', note)
  try {
    const failing = Promise.reject(new Error('unheard'))
    await expect(untilAborted(failing, undefined, Number.NaN)).rejects.toThrow()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(unheard).toEqual([])
  } finally {
    process.off('unhandledRejection', note)
  }
})

test.each([Number.NaN, -1])('%s is no time', async (timeMs) => {
  const refusal = new TypeError(
    `a time must be 0 milliseconds or more, or Infinity, and not ${timeMs}`,
  )
  const { signal } = new AbortController()
  await expect(send(signal, answer, timeMs)).rejects.toThrow(refusal)
  await expect(untilAborted(Promise.resolve(), undefined, timeMs)).rejects.toThrow(refusal)
  const waiter = createVerificationWaiter()
  await expect(waiter.wait('s', { waitMs: timeMs })).rejects.toThrow(refusal)
})
