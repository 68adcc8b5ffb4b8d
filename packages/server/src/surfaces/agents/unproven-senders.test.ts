import { describe, expect, test } from 'vitest'
import { createUnprovenSenders } from './unproven-senders.ts'

const MEBIBYTE = 1024 * 1024

/** A body of which everything is held. */
const toState = (bytes: number) => ({ bytes, sentBytes: bytes, heldBytes: bytes, valueCount: 1 })

describe('a sender that is not known yet', () => {
  test('may send anything that becomes little, and beyond that no more than a ratio', () => {
    const body = createUnprovenSenders(3).follow('192.0.2.1', 0)
    body.check({ bytes: MEBIBYTE, sentBytes: 10, heldBytes: 0, valueCount: 1 })
    expect(() =>
      body.check({ bytes: 100_000, sentBytes: 100_000, heldBytes: 0, valueCount: 30_000 }),
    ).toThrow(expect.objectContaining({ code: 'body_too_large' }))
    body.check({ bytes: 10 * MEBIBYTE, sentBytes: MEBIBYTE, heldBytes: 0, valueCount: 1 })
    expect(() =>
      body.check({ bytes: 2 * MEBIBYTE, sentBytes: 5_000, heldBytes: 0, valueCount: 1 }),
    ).toThrow(expect.objectContaining({ code: 'body_too_large' }))
  })

  test('from an address that fails too often may send little, until a minute has passed', () => {
    const senders = createUnprovenSenders(2)
    senders.countFailure('192.0.2.1', 0)
    senders.countFailure('192.0.2.1', 1_000)
    const state = { bytes: 100_000, sentBytes: 100_000, heldBytes: 0, valueCount: 1 }
    const body = senders.follow('192.0.2.1', 2_000)
    expect(() => body.check(state)).toThrow(expect.objectContaining({ code: 'rate_limited' }))
    senders.follow('192.0.2.2', 2_000).check(state)
    senders.follow('192.0.2.1', 62_000).check(state)
  })

  test('counts with its neighbours by the first 64 bits of IPv6', () => {
    const senders = createUnprovenSenders(2)
    senders.countFailure('2001:db8:1:2::1', 0)
    senders.countFailure('2001:db8:1:2:ffff::2', 0)
    expect(senders.isSuspect('2001:db8:1:2:3::3', 0)).toBe(true)
    expect(senders.isSuspect('2001:db8:1:3::1', 0)).toBe(false)
  })

  test('holds its share and no more, until what it sent is known or over', () => {
    const senders = createUnprovenSenders(2)
    const bodies = Array.from({ length: 3 }, () => senders.follow('192.0.2.1', 0))
    const check = (index: number) => bodies[index]?.check(toState(15 * MEBIBYTE))
    check(0)
    check(1)
    expect(() => check(2)).toThrow(expect.objectContaining({ code: 'rate_limited' }))
    bodies[2]?.release()
    bodies[0]?.release()
    bodies[0]?.release()
    check(2)
  })

  test('is refused while all together hold too much', () => {
    const senders = createUnprovenSenders(2)
    const hold = (address: string) => senders.follow(address, 0).check(toState(30 * MEBIBYTE))
    for (const host of [1, 2, 3, 4]) hold(`192.0.2.${host}`)
    expect(() => hold('192.0.2.5')).toThrow(expect.objectContaining({ code: 'rate_limited' }))
    // Whoever shows a key early is not kept out by those who hold so much.
    senders.follow('192.0.2.6', 0).check(toState(60 * 1024))
  })
})

describe('a device whose body arrives', () => {
  const state = toState(20 * MEBIBYTE)

  test('is held as much of as one agent sends, whatever its addresses, until the bodies are over', () => {
    const senders = createUnprovenSenders(2)
    const [first, second] = ['192.0.2.1', '192.0.2.2'].map((address) => senders.follow(address, 0))
    first?.prove('7')
    second?.prove('7')
    first?.check(state)
    expect(() => second?.check(state)).toThrow(expect.objectContaining({ code: 'rate_limited' }))
    first?.release()
    second?.check(state)
  })

  test('is held nothing of for its address any more', () => {
    const senders = createUnprovenSenders(2)
    const known = senders.follow('192.0.2.1', 0)
    known.check(state)
    known.prove('7')
    known.check(state)
    senders.follow('192.0.2.1', 0).check(state)
  })
})
