import { describe, expect, it } from 'vitest'
import { isEqualSecret } from './keyed-digest.ts'

describe('isEqualSecret', () => {
  it('compares by value, whatever the lengths', () => {
    expect(isEqualSecret('secret', 'secret')).toBe(true)
    expect(isEqualSecret('secret', 'secreT')).toBe(false)
    expect(isEqualSecret('secret', 'secret ')).toBe(false)
    expect(isEqualSecret('', 'x')).toBe(false)
    expect(isEqualSecret('', '')).toBe(true)
  })
})
