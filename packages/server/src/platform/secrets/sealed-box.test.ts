import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseMasterKeys } from './master-key.ts'
import { createSealer, UnsealError, type UnsealFailure } from './sealed-box.ts'

const newKey = (): string => randomBytes(32).toString('base64')
const OLD = newKey()
const NEW = newKey()
const sealer = createSealer(parseMasterKeys(OLD, 'test'))
const rotated = createSealer(parseMasterKeys(`${NEW},${OLD}`, 'test'))
const CONTEXT = { table: 'webhooks', column: 'secret', id: '17' }

function failureOf(open: () => unknown): UnsealFailure | undefined {
  try {
    open()
    return undefined
  } catch (error) {
    if (error instanceof UnsealError) return error.failure
    throw error
  }
}

describe('a sealed secret', () => {
  it('opens to what was sealed, text or bytes, of any length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(sealer.open(sealer.seal(bytes, CONTEXT), CONTEXT)).toEqual(Buffer.from(bytes))
      }),
    )
    expect(sealer.openText(sealer.seal('žluťoučký', CONTEXT), CONTEXT)).toBe('žluťoučký')
    expect(sealer.openText(sealer.seal('', CONTEXT), CONTEXT)).toBe('')
  })

  it('takes 73 bytes more than the secret, shows nothing of it, and differs every time', () => {
    const first = sealer.seal('correct horse', CONTEXT)
    expect(first.length).toBe('correct horse'.length + 73)
    expect(first.includes('correct')).toBe(false)
    expect(sealer.seal('correct horse', CONTEXT)).not.toEqual(first)
  })

  it.each([
    { ...CONTEXT, table: 'streams' },
    { ...CONTEXT, column: 'name' },
    { ...CONTEXT, id: '18' },
    { table: 'webhookss', column: 'ecret', id: '17' },
  ])('does not open as %j', (context) => {
    const sealed = sealer.seal('secret', CONTEXT)
    expect(failureOf(() => sealer.open(sealed, context))).toBe('not_authentic')
  })

  it('does not open when any single byte has been altered', () => {
    const sealed = sealer.seal('secret', CONTEXT)
    for (let index = 0; index < sealed.length; index++) {
      const altered = Buffer.from(sealed)
      altered[index]! ^= 1
      expect(
        failureOf(() => sealer.open(altered, CONTEXT)),
        `byte ${index}`,
      ).toBeDefined()
    }
  })

  it('does not open when it has been cut, or is something else', () => {
    const sealed = sealer.seal('', CONTEXT)
    expect(failureOf(() => sealer.open(sealed.subarray(0, -1), CONTEXT))).toBe('malformed')
    expect(failureOf(() => sealer.open(Buffer.alloc(0), CONTEXT))).toBe('malformed')
    expect(failureOf(() => sealer.open(Buffer.alloc(200, 2), CONTEXT))).toBe('malformed')
  })

  it('does not open under another master key', () => {
    const other = createSealer(parseMasterKeys(newKey(), 'test'))
    expect(failureOf(() => other.open(sealer.seal('secret', CONTEXT), CONTEXT))).toBe('unknown_key')
  })
})

describe('a rotation of the master key', () => {
  it('still opens what the former key sealed, and says that it needs rewrapping', () => {
    const sealed = sealer.seal('secret', CONTEXT)
    expect(rotated.openText(sealed, CONTEXT)).toBe('secret')
    expect(rotated.needsRewrap(sealed)).toBe(true)
    expect(sealer.needsRewrap(sealed)).toBe(false)
  })

  it('rewraps a secret so that it opens without the former key', () => {
    const rewrapped = rotated.rewrap(sealer.seal('secret', CONTEXT))
    const withoutOld = createSealer(parseMasterKeys(NEW, 'test'))
    expect(withoutOld.openText(rewrapped, CONTEXT)).toBe('secret')
    expect(withoutOld.needsRewrap(rewrapped)).toBe(false)
    expect(failureOf(() => sealer.open(rewrapped, CONTEXT))).toBe('unknown_key')
  })

  it('keeps a rewrapped secret bound to its row', () => {
    const rewrapped = rotated.rewrap(sealer.seal('secret', CONTEXT))
    expect(failureOf(() => rotated.open(rewrapped, { ...CONTEXT, id: '18' }))).toBe('not_authentic')
  })
})
