import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { StreamState } from '@heliograph/ssf'
import {
  createComplianceState,
  createMemoryComplianceStore,
  type ComplianceChange,
  type ComplianceStateOptions,
  type SequenceGap,
} from '../src/index.ts'
import { deviceSubject, eventOf, NOW, type EventInput } from './support/compliance-events.ts'
import { ISSUER } from './support/signing.ts'

function pageOf(
  subjects: readonly (EventInput & { readonly device: string })[],
  page: Partial<StreamState> = {},
): StreamState {
  return {
    as_of_sequence: 0,
    as_of: NOW,
    next_cursor: null,
    subjects: subjects.map(({ device, status, at = NOW, sequence = null, jti = null }) => ({
      sub_id: deviceSubject(device),
      status,
      event_timestamp: at,
      sequence,
      jti,
    })),
    ...page,
  }
}

let closers: (() => Promise<void>)[]

beforeEach(() => {
  closers = []
})

afterEach(async () => {
  for (const close of closers) await close()
})

function createScene(
  options: Partial<ComplianceStateOptions> & { pages?: () => readonly StreamState[] } = {},
) {
  const changes: ComplianceChange[] = []
  const gaps: SequenceGap[] = []
  const errors: unknown[] = []
  const { pages, ...others } = options
  const store = createMemoryComplianceStore()
  const state = createComplianceState({
    store,
    onChange: (change) => void changes.push(change),
    onGap: (gap) => void gaps.push(gap),
    onError: (error) => void errors.push(error),
    gapGraceMs: 20,
    ...(pages === undefined
      ? {}
      : {
          async *source() {
            await Promise.resolve()
            yield* pages()
          },
        }),
    ...others,
  })
  closers.push(() => state.close())
  const statusOf = (device: string) => state.statusOf(deviceSubject(device))
  return { state, store, statusOf, changes, gaps, errors }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2))
}

describe('the status of a device', () => {
  test('is unknown until something is said, and is then what was said', async () => {
    const { state, statusOf, changes } = createScene()
    expect(await statusOf('d1')).toBeUndefined()
    expect(await state.apply(eventOf({ status: 'not-compliant' }))).toBe('applied')
    expect(await statusOf('d1')).toBe('not-compliant')
    expect(await statusOf('d2')).toBeUndefined()
    expect(changes).toMatchObject([{ previous: undefined, current: 'not-compliant' }])
  })

  test('is of the device, whoever owns it and however its subject is written', async () => {
    const { state } = createScene()
    await state.apply(eventOf({ status: 'compliant', user: 'a@example.com', at: NOW }))
    await state.apply(eventOf({ status: 'not-compliant', user: 'b@example.com', at: NOW + 1 }))
    const device = { sub: 'd1', format: 'iss_sub', iss: ISSUER } as const
    expect(await state.statusOf(device)).toBe('not-compliant')
    expect(await state.statusOf({ format: 'complex', device })).toBe('not-compliant')
    expect(await state.find(device)).toMatchObject({
      subject: { user: { email: 'b@example.com' } },
    })
  })

  test.each([
    ['time of the event', { at: NOW - 10 }, { at: NOW - 5, iat: NOW - 60 }],
    ['number in the same second', { at: NOW, sequence: 7 }, { at: NOW, sequence: 8, iat: NOW - 1 }],
    ['time of issue in the same second', { at: NOW, iat: NOW }, { at: NOW, iat: NOW + 1 }],
    ['time of issue, when the event has none', { iat: NOW - 9 }, { iat: NOW - 8 }],
    [
      'time of the event, when it is in milliseconds as in drafts',
      { at: (NOW - 10) * 1000 },
      { at: NOW - 5 },
    ],
  ])('is what was said last by %s, in whatever order it comes', async (_title, older, newer) => {
    const first = eventOf({ status: 'not-compliant', ...older })
    const second = eventOf({ status: 'compliant', ...newer })
    for (const order of [
      [first, second],
      [second, first],
    ]) {
      const { state, statusOf } = createScene()
      for (const event of order) await state.apply(event)
      expect(await statusOf('d1')).toBe('compliant')
    }
  })

  test('is not changed by events that come at the same time in the wrong order', async () => {
    const { state, statusOf } = createScene({
      onChange: () => new Promise((resolve) => setTimeout(resolve, 5)),
    })
    const outcomes = await Promise.all([
      state.apply(eventOf({ status: 'compliant', at: NOW })),
      state.apply(eventOf({ status: 'not-compliant', at: NOW - 1 })),
    ])
    expect(outcomes).toEqual(['applied', 'outdated'])
    expect(await statusOf('d1')).toBe('compliant')
  })

  test('is not stored when the application could not take the change', async () => {
    let isBroken = true
    const { state, statusOf } = createScene({
      onChange: () => {
        if (isBroken) throw new Error('down')
      },
    })
    const event = eventOf({ status: 'compliant' })
    await expect(state.apply(event)).rejects.toThrow('down')
    expect(await statusOf('d1')).toBeUndefined()
    isBroken = false
    expect(await state.apply(event)).toBe('applied')
  })
})

describe('a reconciliation', () => {
  test('adds, corrects and removes what differs, over all pages, and says so', async () => {
    const { state, statusOf, changes } = createScene({
      pages: () => [
        pageOf([{ device: 'same', status: 'compliant', at: NOW - 50 }], { next_cursor: '2' }),
        pageOf([
          { device: 'wrong', status: 'not-compliant', at: NOW - 40 },
          { device: 'new', status: 'compliant', at: NOW - 30 },
        ]),
      ],
    })
    for (const device of ['same', 'wrong', 'gone']) {
      await state.apply(eventOf({ device, status: 'compliant', at: NOW - 50, iat: NOW - 50 }))
    }
    changes.length = 0
    expect(await state.reconcile()).toEqual({
      added: 1,
      changed: 1,
      removed: 1,
      unchanged: 1,
      asOfSequence: 0,
    })
    expect(await Promise.all(['same', 'wrong', 'new', 'gone'].map(statusOf))).toEqual([
      'compliant',
      'not-compliant',
      'compliant',
      undefined,
    ])
    expect(changes.map(({ current }) => current)).toEqual(['not-compliant', 'compliant', undefined])
  })

  test.each([
    ['by its number', { sequence: 11 }, { as_of_sequence: 10 }],
    ['by its time of issue', { iat: NOW + 5 }, {}],
    ['by its event, issued in the second of the page', { iat: NOW, at: NOW }, {}],
  ])('leaves what came after the page was read, %s', async (_title, event, page) => {
    const { state, statusOf } = createScene({
      pages: () => [pageOf([{ device: 'd1', status: 'compliant', at: NOW - 9 }], page)],
    })
    await state.apply(eventOf({ status: 'not-compliant', at: NOW + 5, ...event }))
    await state.apply(eventOf({ device: 'd2', status: 'compliant', at: NOW + 5, ...event }))
    expect(await state.reconcile()).toMatchObject({ removed: 0, unchanged: 1 })
    expect(await statusOf('d1')).toBe('not-compliant')
    expect(await statusOf('d2')).toBe('compliant')
  })

  test('that breaks off changes nothing', async () => {
    const { state, statusOf } = createScene({
      async *source() {
        yield await Promise.resolve(
          pageOf([{ device: 'd1', status: 'not-compliant', at: NOW - 5 }], { next_cursor: 'x' }),
        )
        throw new Error('broken off')
      },
    })
    await state.apply(eventOf({ device: 'd2', status: 'compliant', iat: NOW - 60 }))
    await expect(state.reconcile()).rejects.toThrow('broken off')
    expect(await statusOf('d1')).toBeUndefined()
    expect(await statusOf('d2')).toBe('compliant')
  })

  test('is not undone by an old event', async () => {
    const page = pageOf([{ device: 'd1', status: 'not-compliant', at: NOW - 5 }])
    const { state, statusOf } = createScene({ pages: () => [page] })
    await state.reconcile()
    expect(await state.apply(eventOf({ status: 'compliant', at: NOW - 6 }))).toBe('outdated')
    expect(await statusOf('d1')).toBe('not-compliant')
  })

  test('believes the state of a stream that was made anew, whatever the numbers of the one before', async () => {
    const page = pageOf([{ device: 'd1', status: 'not-compliant', at: NOW + 60, sequence: 1 }], {
      as_of: NOW + 90,
      as_of_sequence: 1,
    })
    const { state, statusOf, gaps } = createScene({ pages: () => [page] })
    for (const sequence of [7, 8]) {
      await state.apply(eventOf({ status: 'compliant', sequence, at: NOW + sequence }))
    }
    await state.apply(eventOf({ device: 'gone', status: 'compliant', sequence: 9 }))
    expect(await state.reconcile()).toMatchObject({ changed: 1, removed: 1, asOfSequence: 1 })
    expect(await statusOf('d1')).toBe('not-compliant')
    expect(await statusOf('gone')).toBeUndefined()
    await state.apply(eventOf({ status: 'compliant', sequence: 4, at: NOW + 99, iat: NOW + 99 }))
    await until(() => gaps.length > 0)
    expect(gaps[0]).toEqual({ from: 2, to: 3 })
  })

  test('goes on for whoever waits, and ends when nobody does', async () => {
    let signal: AbortSignal | undefined
    const page = pageOf([{ device: 'd1', status: 'compliant' }])
    let readPage: (() => void) | undefined
    const { state } = createScene({
      async *source(options) {
        signal = options.signal
        await new Promise<void>((resolve) => (readPage = resolve))
        yield page
      },
    })
    const first = new AbortController()
    const aborted = state.reconcile({ signal: first.signal })
    const waited = state.reconcile()
    await until(() => readPage !== undefined)
    first.abort()
    await expect(aborted).rejects.toMatchObject({ code: 'aborted' })
    expect(signal?.aborted).toBe(false)
    readPage?.()
    expect(await waited).toMatchObject({ added: 1 })
    readPage = undefined
    const last = new AbortController()
    const alone = state.reconcile({ signal: last.signal })
    await until(() => readPage !== undefined)
    last.abort()
    await expect(alone).rejects.toMatchObject({ code: 'aborted' })
    expect(signal?.aborted).toBe(true)
  })

  test('of a state without a page fails as any other answer that may not be', async () => {
    const { state } = createScene({ pages: () => [] })
    await expect(state.reconcile()).rejects.toMatchObject({ code: 'bad_response' })
  })

  test('needs a source', async () => {
    await expect(createScene().state.reconcile()).rejects.toBeInstanceOf(TypeError)
  })
})

describe('a missing SET', () => {
  const numbered = (sequence: number) => eventOf({ status: 'compliant', sequence })

  test('is told of after the time in which it may come late, once', async () => {
    const { state, gaps, store } = createScene()
    for (const sequence of [5, 6, 9, 10]) await state.apply(numbered(sequence))
    expect(gaps).toEqual([])
    await until(() => gaps.length > 0)
    expect(gaps).toEqual([{ from: 7, to: 8 }])
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(gaps).toHaveLength(1)
    expect(await store.readPosition()).toEqual({ sequence: 10, ahead: [] })
  })

  test('is never told of when it may be late for ever, and a time that is none is refused', async () => {
    const { state, gaps } = createScene({ gapGraceMs: Number.POSITIVE_INFINITY })
    for (const sequence of [1, 3]) await state.apply(numbered(sequence))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(gaps).toEqual([])
    expect(() => createScene({ gapGraceMs: Number.NaN })).toThrow(TypeError)
  })

  test('is not told of when it was only overtaken', async () => {
    const { state, gaps, store } = createScene()
    for (const sequence of [1, 4, 3, 3, 2]) await state.apply(numbered(sequence))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(gaps).toEqual([])
    expect(await store.readPosition()).toEqual({ sequence: 4, ahead: [] })
  })

  test('is noticed whatever the events are about', async () => {
    const { state, gaps } = createScene()
    const verification = (sequence: number) => ({
      ...numbered(sequence),
      event: { isKnown: false, type: 'urn:example:other', payload: {} } as const,
    })
    expect(await state.apply(verification(1))).toBe('ignored')
    await state.apply(verification(3))
    await until(() => gaps.length > 0)
    expect(gaps).toEqual([{ from: 2, to: 2 }])
  })

  test('is told of also after a restart', async () => {
    const { state, store } = createScene({ gapGraceMs: 60_000 })
    for (const sequence of [3, 5]) {
      await state.apply(eventOf({ status: 'compliant', sequence, at: NOW + sequence }))
    }
    await state.close()
    const { gaps } = createScene({ store })
    await until(() => gaps.length > 0)
    expect(gaps[0]).toEqual({ from: 4, to: 4 })
  })

  test('is made good by a reconciliation, which is tried until it succeeds', async () => {
    let attempts = 0
    const { state, statusOf, store, errors } = createScene({
      pages: () => {
        attempts += 1
        if (attempts < 2) throw new Error('down')
        return [pageOf([{ device: 'd1', status: 'not-compliant' }], { as_of_sequence: 3 })]
      },
    })
    await state.apply(numbered(1))
    await state.apply(numbered(3))
    await until(() => attempts === 2)
    expect(errors).toHaveLength(1)
    await state.reconcile()
    expect(await statusOf('d1')).toBe('not-compliant')
    expect(await store.readPosition()).toEqual({ sequence: 3, ahead: [] })
  })

  test('is asked for after ever longer pauses, however short a SET may be late', async () => {
    vi.useFakeTimers()
    try {
      let attempts = 0
      const { state } = createScene({
        gapGraceMs: 0,
        pages: () => {
          attempts += 1
          throw new Error('down')
        },
      })
      for (const sequence of [1, 3]) await state.apply(numbered(sequence))
      await vi.advanceTimersByTimeAsync(500)
      expect(attempts).toBe(1)
      await state.apply(numbered(4))
      await vi.advanceTimersByTimeAsync(3_000)
      expect(attempts).toBe(3)
      await vi.advanceTimersByTimeAsync(600_000)
      expect(attempts).toBeLessThan(20)
    } finally {
      vi.useRealTimers()
    }
  })

  test('is made good no more once the state is closed, and nobody is told of that', async () => {
    let signal: AbortSignal | undefined
    const { state, errors } = createScene({
      async *source(options) {
        signal = options.signal
        yield pageOf([], { next_cursor: 'next' })
        await new Promise((_resolve, reject) => {
          options.signal?.addEventListener('abort', () => reject(new Error('given up')))
        })
      },
    })
    for (const sequence of [1, 3]) await state.apply(numbered(sequence))
    await until(() => signal !== undefined)
    await state.close()
    await expect.poll(() => signal?.aborted).toBe(true)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(errors).toEqual([])
  })

  test('keeps no process from ending while it is waited for', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const { state } = createScene({ gapGraceMs: 60_000 })
    for (const sequence of [1, 3]) await state.apply(numbered(sequence))
    const timer = timers.mock.results[0]?.value as ReturnType<typeof setTimeout> | undefined
    timers.mockRestore()
    expect(timer?.hasRef()).toBe(false)
  })

  test.each([
    [
      'throw',
      () => {
        throw new Error('listener')
      },
    ],
    ['reject', async () => Promise.reject(new Error('listener'))],
  ])('is made good although those who are told of it %s', async (_title, fail) => {
    let reads = 0
    const { state, statusOf } = createScene({
      pages: () => {
        if (++reads === 1) throw new Error('down')
        return [pageOf([{ device: 'd1', status: 'not-compliant' }], { as_of_sequence: 3 })]
      },
      onGap: fail,
      onError: fail,
    })
    for (const sequence of [1, 3]) {
      await state.apply(eventOf({ status: 'compliant', at: NOW - 9, sequence }))
    }
    await until(() => reads === 2)
    await expect.poll(() => statusOf('d1')).toBe('not-compliant')
  })
})
