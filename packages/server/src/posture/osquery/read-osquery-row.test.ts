import { expect, test } from 'vitest'
import { readOsqueryRow } from './read-osquery-row.ts'

test('a row of texts that can be stored is read as it is', () => {
  const row = { name: 'é😀', empty: '' }
  expect(readOsqueryRow(row)).toEqual(row)
})

test.each([
  [
    { ok: 'a', nul: 'a\0b' },
    { ok: 'a', nul: 'a\uFFFDb' },
  ],
  [{ lone: '\uD800' }, { lone: '\uFFFD' }],
  [{ 'na\0me': 'a' }, { 'na\uFFFDme': 'a' }],
  [
    { number: 1, nothing: null, list: ['\0'] },
    { number: '1', nothing: '', list: '["\\u0000"]' },
  ],
])('what cannot be stored of a row, or is no text, is replaced: %j', (row, read) => {
  expect(readOsqueryRow(row)).toEqual(read)
})

test.each([null, 'a', 1, ['a']])('what is no row is an empty one: %j', (value) => {
  expect(readOsqueryRow(value)).toEqual({})
})
