import { describe, expect, it } from 'vitest'
import { describeToApp, findCodeStep, newCodeSecret, readAppKey } from './one-time-code.ts'

const SECRET = Buffer.from('12345678901234567890')
const at = (seconds: number) => new Date(seconds * 1000)

describe('a one-time code', () => {
  // RFC 6238 appendix B gives eight digits of SHA-1; of them the last six count.
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('at %i is that of RFC 6238', async (seconds, code) => {
    expect(await findCodeStep(SECRET, code, at(seconds))).toBe(Math.floor(seconds / 30))
  })

  it('counts one step before and after its own', async () => {
    const code = '005924'
    const step = Math.floor(1_234_567_890 / 30)
    const stepAt = (later: number) => findCodeStep(SECRET, code, at((step + later) * 30))
    expect(await stepAt(-1)).toBe(step)
    expect(await stepAt(1)).toBe(step)
    expect(await stepAt(-2)).toBeUndefined()
    expect(await stepAt(2)).toBeUndefined()
    expect(await findCodeStep(SECRET, code, at(step * 30 + 59.999))).toBe(step)
    expect(await findCodeStep(SECRET, code, at(step * 30 - 30.001))).toBeUndefined()
  })

  it.each(['', '5924', '0005924', '00592٤', '-05924', 'abcdef', '1e5000'])(
    'is not the text %j',
    async (text) => {
      expect(await findCodeStep(SECRET, text, at(1_234_567_890))).toBeUndefined()
    },
  )

  it('may be typed with a space', async () => {
    expect(await findCodeStep(SECRET, ' 005 924 ', at(1_234_567_890))).toBeDefined()
  })
})

describe('what an app is told', () => {
  it('holds the secret, whose it is and who issues it', async () => {
    const secret = newCodeSecret()
    const app = { issuer: 'Heliograph: Example & Co', account: 'ada@example.com' }
    const { key, uri } = await describeToApp(secret, app)
    expect(await readAppKey(key)).toEqual(secret)
    const url = new URL(uri)
    expect(url.protocol).toBe('otpauth:')
    expect(decodeURIComponent(url.pathname)).toMatch(/Heliograph {2}Example & Co:ada@example\.com$/)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      issuer: 'Heliograph  Example & Co',
      secret: key,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    })
  })

  it.each(['', 'A'.repeat(31), 'a'.repeat(32), '1'.repeat(32), 'A'.repeat(33)])(
    'is not the key %j',
    async (key) => {
      expect(await readAppKey(key)).toBeUndefined()
    },
  )
})
