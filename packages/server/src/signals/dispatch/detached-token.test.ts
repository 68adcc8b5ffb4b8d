import { expect, it } from 'vitest'
import { detachToken, wholeToken } from './detached-token.ts'

const encode = (text: string) => Buffer.from(text).toString('base64url')
const body = '{"jti":"a","sub":"ä"}'

it.each([
  ['the claims of the body', body, '..'],
  ['the claims with a number', '{"jti":"a","sub":"ä","n":12}', `.${encode(',"n":12')}.`],
])('a token over %s is made again from what is stored of it', (_case, claims, middle) => {
  const token = `${encode('{"kid":"k"}')}.${encode(claims)}.c2lnbmF0dXJl`
  const detachedToken = detachToken(token, body)
  expect(detachedToken).toBe(`${encode('{"kid":"k"}')}${middle}c2lnbmF0dXJl`)
  expect(wholeToken({ body, token: null, detachedToken: detachedToken ?? null })).toBe(token)
})

it.each(['{"jti":"b","sub":"ä"}', '{"jti":"b","sub":"ä","n":12}', '{"jti":"a"}', ''])(
  'a token over other claims (%s) is stored whole',
  (claims) => {
    expect(detachToken(`h.${encode(claims)}.s`, body)).toBeUndefined()
  },
)

it('a token of a former version, and none, stay as they are; without a body there is none', () => {
  expect(wholeToken({ body, token: 'h.p.s', detachedToken: null })).toBe('h.p.s')
  expect(wholeToken({ body, token: null, detachedToken: null })).toBeNull()
  expect(wholeToken({ body: '', token: null, detachedToken: 'h..s' })).toBeNull()
})
