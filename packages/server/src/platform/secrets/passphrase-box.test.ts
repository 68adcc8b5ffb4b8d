import { expect, it } from 'vitest'
import {
  openWithPassphrase,
  passphraseBoxSchema,
  sealWithPassphrase,
  type PassphraseBox,
} from './passphrase-box.ts'

const PASSPHRASE = 'correct horse battery staple'
const BOUND = Buffer.from('a manifest')

/** The same box with one bit of one of its byte strings changed. */
function alter(box: PassphraseBox, member: 'salt' | 'nonce' | 'ciphertext'): PassphraseBox {
  const bytes = Buffer.from(box[member], 'base64')
  bytes.writeUInt8(bytes.readUInt8(0) ^ 1, 0)
  return { ...box, [member]: bytes.toString('base64') }
}

it('opens with its passphrase and what it is bound to, and with nothing else', async () => {
  const box = passphraseBoxSchema.parse(
    JSON.parse(JSON.stringify(await sealWithPassphrase('a key', PASSPHRASE, BOUND))),
  )
  expect(JSON.stringify(box)).not.toContain('a key')
  expect(await openWithPassphrase(box, PASSPHRASE, BOUND)).toBe('a key')
  expect(await openWithPassphrase(box, `${PASSPHRASE}!`, BOUND)).toBeUndefined()
  expect(await openWithPassphrase(box, PASSPHRASE, Buffer.from('another'))).toBeUndefined()
  for (const member of ['salt', 'nonce', 'ciphertext'] as const) {
    expect(await openWithPassphrase(alter(box, member), PASSPHRASE, BOUND), member).toBeUndefined()
  }
})

it('takes a passphrase however its characters are composed', async () => {
  const box = await sealWithPassphrase('a key', 'Sch\u00f6ner Tag heute', BOUND)
  expect(await openWithPassphrase(box, 'Scho\u0308ner Tag heute', BOUND)).toBe('a key')
})

it('refuses a box that asks for more memory than any of this program', async () => {
  const box = await sealWithPassphrase('a key', PASSPHRASE, BOUND)
  expect(await openWithPassphrase({ ...box, n: 2 ** 24, r: 64 }, PASSPHRASE, BOUND)).toBeUndefined()
})
