import { expect, it } from 'vitest'
import { assertWellFormed } from './validation.ts'

it.each([
  [{ name: 'a\ud83d' }, 'name'],
  [{ delivery: { urls: ['https://a.example', '\udc00'] } }, 'delivery.urls.1'],
  [{ headers: { 'x\ud83d': 'a' } }, 'headers.x\ufffd'],
])('a body with lone surrogates is refused, and the answer names where: %j', (body, path) => {
  const message = 'Must not contain lone surrogates.'
  const details = [{ path, message }]
  expect(() => assertWellFormed(body)).toThrow(
    expect.objectContaining({ code: 'invalid_body', details }) as Error,
  )
})

it.each([undefined, null, 7, 'a', { name: '😀', list: ['\u0000', null, { a: true }] }])(
  'a body whose texts are well-formed passes: %j',
  (body) => {
    expect(() => assertWellFormed(body)).not.toThrow()
  },
)

it('a body that is nested as deeply as its size allows is left to its schema', () => {
  const body: unknown = JSON.parse(`${'['.repeat(300_000)}${']'.repeat(300_000)}`)
  expect(() => assertWellFormed(body)).not.toThrow()
})
