import { types } from 'pg'
import { expect, it } from 'vitest'
import { parseTime } from './parse-time.ts'

const oid: number = types.builtins.TIMESTAMPTZ
const parse = types.getTypeParser(oid, 'text') as (text: string) => unknown

it.each([
  ['2026-11-25 15:04:58+00', '2026-11-25T15:04:58.000Z'],
  ['2026-11-25 15:04:58.3+00', '2026-11-25T15:04:58.300Z'],
  ['2026-02-29 00:00:00.35+00', '2026-03-01T00:00:00.350Z'],
  ['2024-02-29 23:59:59.999+00', '2024-02-29T23:59:59.999Z'],
  ['2026-11-25 15:04:58.335299+00', '2026-11-25T15:04:58.335Z'],
  ['2026-11-25 15:04:58.9999+00', '2026-11-25T15:04:58.999Z'],
  ['1000-01-01 00:00:00.000001+00', '1000-01-01T00:00:00.000Z'],
  ['2026-11-25 15:04:58.335+05:30', '2026-11-25T09:34:58.335Z'],
  ['2026-11-25 15:04:58-08', '2026-11-25T23:04:58.000Z'],
])('reads the time %s as the driver does', (text, written) => {
  expect(parseTime(text)).toEqual(new Date(written))
  expect(parseTime(text)).toEqual(parse(text))
})

it.each([
  'infinity',
  '-infinity',
  '0044-03-15 12:00:00+00 BC',
  '0099-03-15 12:00:00+00',
  '12026-11-25 15:04:58+00',
  '2026-11-25 15:04:58+00:19:32',
])('leaves the time %s to the driver', (text) => {
  expect(parseTime(text)).toEqual(parse(text))
})
