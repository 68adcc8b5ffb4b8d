import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createSecretDigest, isEqualSecret } from './keyed-digest.ts'
import { parseMasterKeys } from './master-key.ts'

const newKeys = () => parseMasterKeys(randomBytes(32).toString('base64'), 'test')

describe('isEqualSecret', () => {
  it('compares by value, whatever the lengths', () => {
    expect(isEqualSecret('secret', 'secret')).toBe(true)
    expect(isEqualSecret('secret', 'secreT')).toBe(false)
    expect(isEqualSecret('secret', 'secret ')).toBe(false)
    expect(isEqualSecret('', 'x')).toBe(false)
    expect(isEqualSecret('', '')).toBe(true)
  })
})

describe('createSecretDigest', () => {
  it('gives equal values equal digests, and depends on the master key', () => {
    const digest = createSecretDigest(newKeys())
    expect(digest('a')).toMatch(/^[0-9a-f]{64}$/)
    expect(digest('a')).toBe(digest('a'))
    expect(digest('a')).not.toBe(digest('b'))
    expect(digest('a')).not.toBe(createSecretDigest(newKeys())('a'))
  })
})
