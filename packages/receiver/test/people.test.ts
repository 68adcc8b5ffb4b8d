import { describe, expect, test } from 'vitest'
import type { StreamState, StreamSubjectState, SubjectIdentifier } from '@heliograph/ssf'
import { createComplianceState, createMemoryComplianceStore } from '../src/index.ts'
import { NOW } from './support/compliance-events.ts'

const PERSON: SubjectIdentifier = { format: 'email', email: 'user@example.com' }

type Row = Pick<StreamSubjectState, 'status' | 'sequence'> & { readonly at: number }

/** A stream that names people: those who have two devices are in its state twice. */
function createScene(pages: readonly (readonly Row[])[]) {
  const store = createMemoryComplianceStore()
  const told: string[] = []
  let reads = 0
  let commits = 0
  const state = createComplianceState({
    store: {
      ...store,
      commit(changes) {
        commits += 1
        return store.commit(changes)
      },
    },
    async *source() {
      reads += 1
      for (const rows of pages) yield await Promise.resolve(pageOf(rows, reads))
    },
    onChange: ({ previous, current }) => void told.push(`${previous}>${current}`),
  })
  return { state, told, commits: () => commits, statusOf: () => state.statusOf(PERSON) }
}

function pageOf(rows: readonly Row[], reads: number): StreamState {
  return {
    as_of_sequence: rows.some(({ sequence }) => sequence !== null) ? 9 : 0,
    as_of: NOW + 60 * reads,
    next_cursor: null,
    subjects: rows.map(({ status, at, sequence }) => ({
      sub_id: PERSON,
      status,
      event_timestamp: NOW + at,
      sequence,
      jti: sequence === null ? null : `jti-${sequence}`,
    })),
  }
}

describe.each([
  ['with numbers', [1, 2]],
  ['without numbers', [null, null]],
] as const)('a person who is in the state of a stream twice, %s,', (_title, [first, second]) => {
  const older: Row = { status: 'compliant', at: 1, sequence: first }
  const newer: Row = { status: 'not-compliant', at: 2, sequence: second }

  test.each([
    ['the older row first', [[older, newer]]],
    ['the newer row first', [[newer, older]]],
    ['the older row on a page after that of the newer', [[newer], [older]]],
    ['the older row on a page before that of the newer', [[older], [newer]]],
  ])('has the status of the newest event, %s', async (_order, pages) => {
    const { state, told, commits, statusOf } = createScene(pages)
    expect(await state.reconcile()).toMatchObject({ added: 1, changed: 0, unchanged: 0 })
    expect(await statusOf()).toBe('not-compliant')
    const committed = commits()
    for (let run = 0; run < 3; run += 1) {
      expect(await state.reconcile()).toMatchObject({ added: 0, changed: 0, unchanged: 1 })
      expect(await statusOf()).toBe('not-compliant')
    }
    expect(told).toEqual(['undefined>not-compliant'])
    expect(commits()).toBe(committed)
  })

  test('keeps its status where the state breaks off between the two', async () => {
    const pages = [[older], [newer]]
    const { state, told, statusOf } = createScene(pages)
    await state.reconcile()
    pages[0] = [{ ...older, at: 3, sequence: first === null ? null : 3 }]
    Object.defineProperty(pages, 1, {
      get: () => {
        throw new Error('broken off')
      },
    })
    await expect(state.reconcile()).rejects.toThrow('broken off')
    expect(await statusOf()).toBe('not-compliant')
    expect(told).toEqual(['undefined>not-compliant'])
  })

  test('is corrected by the older row where no page has the newer one any more', async () => {
    const pages = [[older], [newer]]
    const { state, told, statusOf } = createScene(pages)
    await state.reconcile()
    pages.pop()
    expect(await state.reconcile()).toMatchObject({ changed: 1, unchanged: 0 })
    expect(await statusOf()).toBe('compliant')
    expect(told.at(-1)).toBe('not-compliant>compliant')
  })
})

test('two rows of a person that nothing tells apart are told once, and not back and forth', async () => {
  const { state, told, commits } = createScene([
    [{ status: 'compliant', at: 1, sequence: null }],
    [{ status: 'not-compliant', at: 1, sequence: null }],
  ])
  expect(await state.reconcile()).toMatchObject({ added: 1, changed: 0, unchanged: 0 })
  const committed = commits()
  expect(await state.reconcile()).toMatchObject({ added: 0, changed: 0, unchanged: 1 })
  expect(told).toEqual(['undefined>not-compliant'])
  expect(commits()).toBe(committed)
})
