import { describe, expect, it } from 'vitest'
import { findHeaderProblem } from './request-headers.ts'

describe('findHeaderProblem', () => {
  it.each([
    [{ authorization: 'Bearer abc', 'content-type': 'application/secevent+jwt' }],
    [{ 'X-Name': 'caf\u00e9\twith tab' }],
    [{ empty: '' }],
  ])('lets %j pass', (headers) => {
    expect(findHeaderProblem(headers)).toBeUndefined()
  })

  it.each([
    'a\r\nx: y',
    'a\nb',
    'a\rb',
    'a\0b',
    'a\u0001b',
    'a\u007fb',
    'a\u0100b',
    '\u560a\u560d',
  ])('refuses the value %j, and does not repeat it', (value) => {
    const problem = findHeaderProblem({ authorization: `secret${value}` })
    expect(problem).toMatch(/authorization contains/)
    expect(problem).not.toContain('secret')
  })

  it.each(['', 'a b', 'a:b', 'a\r\nb', 'a\0', '\u00e9', '(x)', 'a'.repeat(257)])(
    'refuses the name %j',
    (name) => {
      expect(findHeaderProblem({ [name]: 'x' })).toMatch(/is not valid/)
    },
  )

  it.each(['Host', 'content-length', 'Transfer-Encoding', 'CONNECTION', 'upgrade', 'expect', 'te'])(
    'refuses %s, which frames or routes the request',
    (name) => {
      expect(findHeaderProblem({ [name]: 'x' })).toMatch(/set by the service/)
    },
  )

  it('refuses a value that is too long', () => {
    expect(findHeaderProblem({ 'x-long': 'a'.repeat(8_193) })).toMatch(/longer than 8192/)
  })
})
