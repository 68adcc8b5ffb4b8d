import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSecretMask } from './mask-secrets.ts'

const SECRET = 'p4ss/w+rd "äé" & <more>'
const TOKEN = 'eyJhbGciOiJub25lIn0.c2VjcmV0.x-_'

const percent = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
const unicode = (text: string): string =>
  [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
const html = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&#62;')
    .replaceAll('"', '&#x22;')
const inSlashes = (text: string): string => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/')

const FORMS: [string, (text: string) => string][] = [
  ['as it is', (text) => text],
  ['in base64', (text) => Buffer.from(text).toString('base64')],
  ['in base64url', (text) => Buffer.from(text).toString('base64url')],
  ['in base64 behind one byte', (text) => Buffer.from(`:${text}\n`).toString('base64')],
  ['in base64 behind two bytes', (text) => Buffer.from(`u:${text}:more`).toString('base64')],
  ['in hex', (text) => Buffer.from(text).toString('hex')],
  ['in hex of capitals', (text) => Buffer.from(text).toString('hex').toUpperCase()],
  ['for a URL', encodeURIComponent],
  ['in a form', (text) => new URLSearchParams({ v: text }).toString().slice(2)],
  ['with every byte percent-encoded', percent],
  ['in JSON', (text) => JSON.stringify(text).slice(1, -1)],
  ['in JSON that escapes slashes', inSlashes],
  ['in HTML', html],
]

describe('a masked text', () => {
  describe.each([SECRET, TOKEN])('of the secret %j', (secret) => {
    const mask = createSecretMask([secret])

    it.each(FORMS)('shows nothing of a secret that stands in it %s', (_name, toForm) => {
      const masked = mask.bytes(Buffer.from(`before ${toForm(secret)} after`)).toString()
      expect(masked).toMatch(/^before .{0,4}\[masked\].{0,12} after$/)
    })

    it.each(FORMS)('shows nothing of the beginning of a secret %s at a cut', (_name, toForm) => {
      const whole = Buffer.from(`{"header":"${toForm(secret)}`)
      const form = Buffer.from(toForm(secret))
      for (let length = 12; length < form.length; length += 1) {
        const cut = whole.subarray(0, '{"header":"'.length + length)
        const masked = mask.bytes(cut, { isCut: true }).toString()
        expect(masked, cut.toString()).toMatch(/^\{"header":".{0,4}\[masked\]/)
        expect(masked.length).toBeLessThan(40)
      }
    })
  })

  it('shows nothing of a secret whose every character is escaped', () => {
    expect(createSecretMask([TOKEN]).text(`<${unicode(TOKEN)}>`)).toBe('<[masked]>')
  })

  it('holds no secret, wherever and however often it stood', () => {
    const key = randomBytes(12).toString('base64url')
    const mask = createSecretMask([key])
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 5 }), (parts) => {
        expect(mask.text(parts.join(key))).not.toContain(key)
        expect(mask.bytes(Buffer.from(parts.join(key))).includes(key)).toBe(false)
      }),
    )
  })

  it('is as it was where no secret stands in it', () => {
    const mask = createSecretMask([SECRET, TOKEN])
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(mask.bytes(Buffer.from(bytes))).toEqual(Buffer.from(bytes))
      }),
    )
    expect(mask.text('100% & more \\ than p4ss/w+')).toBe('100% & more \\ than p4ss/w+')
  })

  it('keeps words that a short secret is only part of', () => {
    const mask = createSecretMask(['test', 'no'])
    expect(mask.text('{"tested":"no","key":"test"}')).toBe('{"tested":"no","key":"[masked]"}')
  })

  it('hides the longer of two secrets that begin alike, and both where they follow each other', () => {
    const mask = createSecretMask(['aaaaaaaa', 'aaaaaaaa-bbbb'])
    expect(mask.text('aaaaaaaa-bbbbaaaaaaaa!')).toBe('[masked][masked]!')
  })

  it('hides the rest of a text that would take too long to search', () => {
    const mask = createSecretMask([`${'a'.repeat(8_000)}b`])
    expect(mask.text(`{"echo":"${'a'.repeat(16_384)}"}`)).toMatch(/^\{"echo":"a{0,400}\[masked\]$/)
  })

  it('finds a secret of backslashes as it is and escaped', () => {
    const mask = createSecretMask(['C:\\\\host\\key'])
    expect(mask.text('C:\\\\host\\key')).toBe('[masked]')
    expect(mask.text(JSON.stringify('C:\\\\host\\key'))).toBe('"[masked]"')
  })
})
