import { expect, it } from 'vitest'
import { describeEvent, describeStart } from './demo-output.ts'

const EVENT = {
  method: 'push',
  receivedAtMs: new Date(2026, 0, 2, 3, 4, 5).getTime(),
  jti: 'event-1',
  deviceId: '7',
  previousStatus: 'compliant',
  currentStatus: 'not-compliant',
  kind: 'device-compliance-change',
  latencyMs: 42,
} as const

it('an event is one line: time, method, device, change, latency', () => {
  expect(describeEvent(EVENT, 'ada-mac.example.com').lines).toEqual([
    '03:04:05  push  ada-mac               compliant → not-compliant  42 ms  signature verified',
  ])
})

it('an event of a device that is not known yet names its id', () => {
  expect(describeEvent(EVENT, undefined).lines[0]).toContain('  #7  ')
})

it('no text of a device reaches the terminal as an escape sequence', () => {
  expect(describeEvent(EVENT, '\u001b[2Jada\u202e').lines[0]).toContain('?[2Jada?')
})

it('the guide gives the addresses, the key and three commands of curl, each on a line', () => {
  const consoleUrl = 'http://localhost:8080/console/sign-in#token=abc'
  const signInUrl = 'http://127.0.0.1:20100/'
  const { lines } = describeStart('http://127.0.0.1:8080', {
    key: 'k2sk_v1_test',
    consoleUrl,
    signInUrl,
  })
  expect(lines.some((line) => line.startsWith(`Sign in      ${signInUrl} `))).toBe(true)
  expect(lines).toContain(`Console      ${consoleUrl}`)
  expect(lines).toContain('API key      k2sk_v1_test')
  expect(lines).toContain('API docs     http://127.0.0.1:8080/docs')
  expect(lines.filter((line) => line.startsWith('curl '))).toHaveLength(3)
})
