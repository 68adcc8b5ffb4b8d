import { describe, expect, it } from 'vitest'
import { assertOwnForm, parseFormBody } from './form-body.ts'

const ORIGIN = 'https://trust.example.com'

describe('a form', () => {
  it('is read as browsers send it; of a field that comes twice the first counts', () => {
    expect([...parseFormBody('reason=two+words%21&empty=&reason=other')]).toEqual([
      ['reason', 'two words!'],
      ['empty', ''],
    ])
  })

  it('has no more fields than a page has', () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => `f${at}=`).join('&')
    expect(parseFormBody(many(50)).size).toBe(50)
    expect(() => parseFormBody(many(51))).toThrow('too many fields')
  })

  it.each([
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'same-origin', origin: 'null' },
    { origin: ORIGIN },
  ])('with %j was sent by a page of the service', (headers) => {
    expect(() => assertOwnForm(headers, ORIGIN)).not.toThrow()
  })

  it.each([
    {},
    { origin: 'null' },
    { origin: 'https://evil.example.com' },
    { 'sec-fetch-site': 'cross-site', origin: ORIGIN },
    { 'sec-fetch-site': 'same-site', origin: ORIGIN },
    { 'sec-fetch-site': 'none', origin: ORIGIN },
  ])('with %j was not, or nobody knows', (headers) => {
    expect(() => assertOwnForm(headers, ORIGIN)).toThrow('another site')
  })
})
