import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toIsoTime } from './iso-time.ts'

describe('the text of a time', () => {
  it('is that of the language, for every time', () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (time) => {
        expect(toIsoTime(time)).toBe(time.toISOString())
        expect(toIsoTime(time)).toBe(time.toISOString())
      }),
    )
  })

  it('is right at both ends of a day, before the epoch too', () => {
    for (const text of ['1969-12-31T23:59:59.999Z', '2026-03-01T00:00:00.000Z']) {
      expect(toIsoTime(new Date(text))).toBe(text)
    }
  })

  it('does not exist for no time', () => {
    expect(() => toIsoTime(new Date(Number.NaN))).toThrow(RangeError)
  })
})
