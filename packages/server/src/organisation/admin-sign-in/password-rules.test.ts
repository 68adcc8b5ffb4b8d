import { describe, expect, it } from 'vitest'
import { parseNewPassword, toPasswordForm } from './password-rules.ts'

const OWNER = { email: 'grace.hopper@example.com', organisationName: 'Navy Yard' }

const messageOf = (password: string, owner = OWNER): string => {
  try {
    parseNewPassword(password, owner)
    return ''
  } catch (error) {
    const { details } = error as { details?: readonly { path: string; message: string }[] }
    return details?.map(({ path, message }) => `${path} ${message}`).join() ?? String(error)
  }
}

describe('a new password', () => {
  it.each([
    'correct horse battery staple',
    'aB3$xY9!kL2m',
    'mit dem Zug nach Köln',
    '你好世界再见山川湖海风云',
    'öäüßéèêñçåøæ',
    'x7'.repeat(3) + 'Ruhe-Vogel-Tisch',
  ])('may be %s', (password) => {
    expect(messageOf(password)).toBe('')
  })

  it('has 12 to 256 characters, as people count them', () => {
    expect(messageOf('aB3$xY9!kL2')).toMatch(/12 to 256 characters/)
    expect(messageOf('🦊🐙🌵🎈🚲')).toMatch(/12 to 256/)
    expect(messageOf('🦊🐙🌵🎈🚲🏔🧭🪁🎻🦉🍋🛶')).toBe('')
    const long = Array.from({ length: 256 }, (_, index) => 'kvzrmtpw'.charAt((index * index) % 8))
    const lengthOf = (text: string) => messageOf(text).includes('12 to 256')
    expect(lengthOf(long.join(''))).toBe(false)
    expect(lengthOf(`${long.join('')}k`)).toBe(true)
    // One character that NFKC makes eighteen of.
    expect(messageOf('\uFDFA'.repeat(20))).toMatch(/12 to 256/)
  })

  it('is the same on every keyboard', () => {
    expect(parseNewPassword('Ｃafe\u0301 au lait 92', OWNER)).toBe('Café au lait 92')
    expect(toPasswordForm('Cafe\u0301')).toBe(toPasswordForm('Café'))
  })

  it('is text', () => {
    expect(messageOf('battery \uD800 staple horse')).toMatch(/Must be text/)
  })

  it.each([
    'my Grace.Hopper pass phrase',
    'GRACEHOPPER-xq-77-zu',
    'grace.hopper@example.com zz',
    'the navy-yard is my place',
    'NAVYYARD kdu 27 mve',
    'heliograph kdu 27 mve',
  ])('does not name whose it is: %s', (password) => {
    expect(messageOf(password)).toMatch(/Must not contain/)
  })

  it('may contain what is too short to be a name', () => {
    const owner = { email: 'ada@example.com', organisationName: 'IT' }
    expect(messageOf('armada with seven boats', owner)).toBe('')
    expect(messageOf('xx ada@example.com yy 17', owner)).toMatch(/Must not contain/)
  })

  it.each([
    'password1234',
    'P@ssw0rd2024!',
    'Welcome12345!',
    'Summer2026!!',
    'administrator',
    'aaaaaaaaaaaaaaaa',
    '123456789012',
    'abcdefghijklmnop',
    'qwertyuiop123',
    'asdfghjklasdfghjkl',
    '987654321098765',
    'abcabcabcabc',
    'hunter2hunter2hunter2',
    'ChangeMe12345',
    'trustno1trustno1',
  ])('is not guessed first: %s', (password) => {
    expect(messageOf(password)).toMatch(/guessed easily/)
  })
})
