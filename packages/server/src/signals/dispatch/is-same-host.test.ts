import { expect, it } from 'vitest'
import { isSameHost } from './is-same-host.ts'

const BEFORE = 'https://receiver.example.com/events'

it.each([
  ['another path', BEFORE, 'https://receiver.example.com/other?a=b'],
  ['another port', BEFORE, 'https://receiver.example.com:8443/events'],
  ['the same host in capitals', BEFORE, 'https://RECEIVER.example.com/events'],
  ['https after http', 'http://receiver.example.com/events', BEFORE],
  ['http as before', 'http://receiver.example.com/a', 'http://receiver.example.com/b'],
])('takes %s for the same host', (_what, before, after) => {
  expect(isSameHost(before, after)).toBe(true)
})

it.each([
  ['another name', 'https://other.example.com/events'],
  ['a name below', 'https://x.receiver.example.com/events'],
  ['http after https', 'http://receiver.example.com/events'],
  ['the name as that of a user', 'https://receiver.example.com@other.example.com/events'],
])('takes %s for another host', (_what, after) => {
  expect(isSameHost(BEFORE, after)).toBe(false)
})
