import { expect, it } from 'vitest'
import { MASK, maskRow } from './mask-row.ts'

it('a row is shown without the verdict and without what is empty', () => {
  expect(maskRow({ KOLIDE_CHECK_STATUS: 'FAIL', filevault_status: 'off', note: '' })).toEqual({
    filevault_status: 'off',
  })
})

it.each([
  ['api_key', 'abc'],
  ['password', 'hunter2'],
  ['user_token_value', 'x'],
  ['private_key', 'y'],
])('nothing of %s is shown', (name, value) => {
  expect(maskRow({ [name]: value })).toEqual({ [name]: MASK })
})

it.each(['password_length', 'token_type', 'password_policy', 'keyboard', 'pinned'])(
  '%s is no secret',
  (name) => {
    expect(maskRow({ [name]: '8' })).toEqual({ [name]: '8' })
  },
)

it.each([
  ['export AWS=AKIAIOSFODNN7EXAMPLE x', `export AWS=${MASK} x`],
  ['ghp_0123456789abcdefghijABCDEFGHIJ012345', MASK],
  ['eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl', MASK],
  ['https://ada:secret@example.com/x', `https://ada:${MASK}@example.com/x`],
  ['a -----BEGIN RSA PRIVATE KEY-----\nMIIE', `a ${MASK}`],
])('of %j the secret is masked', (value, shown) => {
  expect(maskRow({ found: value })).toEqual({ found: shown })
})

it('what is long is cut, and wide rows too', () => {
  expect(maskRow({ found: 'x'.repeat(10_000) })['found']).toHaveLength(300)
  const wide = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`c${at}`, 'v']))
  expect(Object.keys(maskRow(wide))).toHaveLength(30)
})
