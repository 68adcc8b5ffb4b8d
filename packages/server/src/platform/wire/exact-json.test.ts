import { expect, test } from 'vitest'
import { parseExactJson } from './exact-json.ts'

test.each([
  '9007199254740993',
  '-9223372036854775808',
  '0.1234567890123456789',
  `0.${'0'.repeat(350)}1`,
  '[{"bytes":18446744073709551615,"text":"9007199254740993"}]',
])('%s is written as it was read', (text) => {
  expect(JSON.stringify(parseExactJson(text))).toBe(text)
})

test.each([
  ['9007199254740991', 9_007_199_254_740_991],
  ['1234567890.500000000000', 1_234_567_890.5],
  ['0.1', 0.1],
  ['1e300', 1e300],
  ['{"a":[null,true,"x",0]}', { a: [null, true, 'x', 0] }],
])('%s is an ordinary value', (text, value) => {
  expect(parseExactJson(text)).toEqual(value)
})
