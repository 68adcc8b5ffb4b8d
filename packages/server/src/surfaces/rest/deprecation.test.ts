import { expect, it } from 'vitest'
import { deprecationHeaders } from './deprecation.ts'

const BASE_URL = 'https://trust.example.com'
const LINK = '<https://trust.example.com/docs>'

it('says nothing of what is current', () => {
  expect(deprecationHeaders({ deprecation: undefined }, '2026-04-07', BASE_URL)).toEqual({})
})

it('announces the end of an old version as RFC 9745 and RFC 8594 say', () => {
  expect(deprecationHeaders({ deprecation: undefined }, '2023-05-26', BASE_URL)).toEqual({
    deprecation: '@1775520000',
    sunset: 'Fri, 07 Apr 2028 00:00:00 GMT',
    link: `${LINK}; rel="deprecation"; type="text/html", ${LINK}; rel="sunset"; type="text/html"`,
  })
})

it('announces a route without a date of its end', () => {
  const deprecation = { since: new Date('2026-06-01') }
  expect(deprecationHeaders({ deprecation }, '2026-04-07', BASE_URL)).toEqual({
    deprecation: '@1780272000',
    link: `${LINK}; rel="deprecation"; type="text/html"`,
  })
})

it('announces the nearer of two ends', () => {
  const deprecation = { since: new Date('2027-01-01'), sunset: new Date('2027-07-01') }
  expect(deprecationHeaders({ deprecation }, '2023-05-26', BASE_URL)).toMatchObject({
    deprecation: '@1775520000',
    sunset: 'Thu, 01 Jul 2027 00:00:00 GMT',
  })
})
