import { expect, it } from 'vitest'
import { parseText, parseTime } from './parse-arguments.ts'

it.each([
  ['2030-01-31', '2030-01-31T00:00:00.000Z'],
  ['2030-01-31T12:00', '2030-01-31T12:00:00.000Z'],
  ['2030-01-31T12:00:00+02:00', '2030-01-31T10:00:00.000Z'],
])('takes the time %s, wherever the machine is', (text, time) => {
  const before = process.env['TZ']
  process.env['TZ'] = 'America/New_York'
  try {
    expect(parseTime(text).toISOString()).toBe(time)
  } finally {
    if (before === undefined) delete process.env['TZ']
    else process.env['TZ'] = before
  }
})

it.each(['yesterday', '2030-02-30', '2030-01-31 12:00 PST', '2030-01-31 (noon) 12:00', ''])(
  'takes no time from %o',
  (text) => {
    expect(() => parseTime(text)).toThrow('Give a time such as')
  },
)

it('takes a text of some characters and not too many, without the blanks around it', () => {
  expect(parseText(3)(' abc ')).toBe('abc')
  for (const text of ['', '  ', 'abcd']) {
    expect(() => parseText(3)(text)).toThrow('Give 1 to 3 characters.')
  }
})
