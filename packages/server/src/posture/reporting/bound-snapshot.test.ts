import { describe, expect, test } from 'vitest'
import {
  boundRows,
  boundSnapshot,
  describeTruncation,
  SNAPSHOT_BYTES_MAX,
  SNAPSHOT_ROWS_MAX,
  SNAPSHOT_VALUE_LENGTH_MAX,
} from './bound-snapshot.ts'

const parse = (text: string) => JSON.parse(text) as Record<string, string>[]

describe('what is kept of a snapshot', () => {
  test('are the columns of the table, in its order and as text', () => {
    const rows = [{ b: 7, other: 'x', a: true }, { a: null, b: ['x'] }, 'no row', null, [1]]
    expect(boundRows(rows, ['a', 'b'])).toEqual({
      text: '[{"a":"true","b":"7"},{"a":"","b":""}]',
      droppedRowCount: 0,
      cutValueCount: 0,
    })
  })

  test('is nothing of a table that nobody asked for', () => {
    expect(boundSnapshot('no_table', [{}])).toBeUndefined()
    expect(boundSnapshot('users', [])?.text).toBe('[]')
  })

  test('are values up to a length, and texts that can be stored', () => {
    const long = 'ü'.repeat(SNAPSHOT_VALUE_LENGTH_MAX + 1)
    const { text, cutValueCount } = boundRows([{ a: long, b: 'x\0\uD800' }], ['a', 'b'])
    expect(parse(text)[0]?.['a']).toHaveLength(SNAPSHOT_VALUE_LENGTH_MAX)
    expect(parse(text)[0]?.['b']).toBe('x\uFFFD\uFFFD')
    expect(cutValueCount).toBe(1)
  })

  test('are rows up to a number', () => {
    const rows = Array.from({ length: SNAPSHOT_ROWS_MAX + 5 }, (_, n) => ({ a: n }))
    const content = boundRows(rows, ['a'])
    expect(parse(content.text)).toHaveLength(SNAPSHOT_ROWS_MAX)
    expect(content.droppedRowCount).toBe(5)
    expect(describeTruncation(content)).toMatch(/^5 rows were left out/)
  })

  test('are the first rows that have room, and none after one that has not', () => {
    const wide = Array.from({ length: 3_000 }, (_, n) => ({ a: `${n}${'ü'.repeat(500)}` }))
    const content = boundRows([...wide, { a: 'short' }], ['a'])
    expect(Buffer.byteLength(content.text)).toBeLessThanOrEqual(SNAPSHOT_BYTES_MAX)
    const kept = parse(content.text)
    expect(kept.length).toBeGreaterThan(2_000)
    expect(kept.length + content.droppedRowCount).toBe(3_001)
    expect(kept.at(-1)?.['a']).toMatch(new RegExp(`^${kept.length - 1}`))
  })

  test('is whole as a rule', () => {
    expect(describeTruncation(boundRows([{ a: 'x' }], ['a']))).toBeUndefined()
  })
})
