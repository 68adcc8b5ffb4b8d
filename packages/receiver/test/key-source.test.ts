import { beforeAll, describe, expect, test } from 'vitest'
import { exportJWK } from 'jose'
import {
  createRemoteKeySource,
  KeysUnavailableError,
  type RemoteKeySourceOptions,
} from '../src/index.ts'
import { readJwks } from '../src/key-source.ts'
import { createTestKey, jwksOf, type TestKey } from './support/signing.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let first: TestKey
let second: TestKey

beforeAll(async () => {
  first = await createTestKey('first', 'ES256')
  second = await createTestKey('second', 'ES256')
})

/** A transmitter whose answer, and a clock whose time, the test sets. */
function createScene(
  answer: () => Response | Promise<Response>,
  options: Partial<RemoteKeySourceOptions> = {},
) {
  const scene = { nowMs: 10 * HOUR, fetches: 0, answer }
  const keySource = createRemoteKeySource({
    jwksUri: 'https://transmitter.example.com/jwks.json',
    nowMs: () => scene.nowMs,
    bytesMax: 10_000,
    ...options,
    fetch: async () => {
      scene.fetches += 1
      return scene.answer()
    },
  })
  return { scene, find: (key: TestKey) => keySource.findKeys({ alg: 'ES256', kid: key.kid }) }
}

const publish =
  (...keys: TestKey[]) =>
  () =>
    Response.json(jwksOf(...keys))
const fail = () => new Response('busy', { status: 503 })

describe('a remote key source', () => {
  test('fetches once for many requests at the same time and then serves from memory', async () => {
    const { scene, find } = createScene(publish(first))
    await Promise.all([find(first), find(first), find(first)])
    await find(first)
    expect(scene.fetches).toBe(1)
  })

  test('finds a rotated key by fetching again, and forgets one that is gone', async () => {
    const { scene, find } = createScene(publish(first))
    await find(first)
    scene.answer = publish(second)
    scene.nowMs += MINUTE
    expect(await find(second)).toHaveLength(1)
    scene.nowMs += MINUTE
    await expect(find(first)).rejects.toMatchObject({ err: 'invalid_key' })
  })

  test('does not fetch for unknown keys more often than the cool-down allows', async () => {
    const { scene, find } = createScene(publish(first))
    await find(first)
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await expect(find(second)).rejects.toBeInstanceOf(KeysUnavailableError)
    }
    expect(scene.fetches).toBe(1)
    scene.nowMs += MINUTE
    await expect(find(second)).rejects.toMatchObject({ err: 'invalid_key' })
    expect(scene.fetches).toBe(2)
  })

  test('refuses all SETs of a key that is not published after two fetches, not each after its own', async () => {
    const { scene, find } = createScene(publish(first))
    await find(first)
    for (const fetches of [2, 3]) {
      await expect(find(second)).rejects.toBeInstanceOf(KeysUnavailableError)
      scene.nowMs += MINUTE
      await expect(find(second)).rejects.toMatchObject({ err: 'invalid_key' })
      expect(scene.fetches).toBe(fetches)
    }
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await expect(find(second)).rejects.toMatchObject({ err: 'invalid_key' })
    }
    expect(scene.fetches).toBe(3)
    scene.answer = publish(first, second)
    scene.nowMs += MINUTE
    expect(await find(second)).toHaveLength(1)
  })

  test('condemns no key that was not published in time, but right after that', async () => {
    const { scene, find } = createScene(publish(first))
    await find(first)
    scene.nowMs += MINUTE
    await expect(find(second)).rejects.toMatchObject({ err: 'invalid_key' })
    scene.answer = publish(first, second)
    await expect(find(second)).rejects.toBeInstanceOf(KeysUnavailableError)
    scene.nowMs += MINUTE
    expect(await find(second)).toHaveLength(1)
  })

  test('remembers keys that are not published in bounded space', async () => {
    const { scene, find } = createScene(publish(first))
    await find(first)
    const miss = async (kid: string) => find({ ...second, kid }).catch((error: unknown) => error)
    await miss('oldest')
    for (let other = 0; other < 100; other += 1) await miss(`kid-${other}`)
    for (const kid of ['kid-0', 'kid-0']) {
      scene.nowMs += MINUTE
      await miss(kid)
    }
    expect(await miss('kid-99')).toMatchObject({ err: 'invalid_key' })
    expect(await miss('oldest')).toBeInstanceOf(KeysUnavailableError)
  })

  test('condemns no key that may have been published after the last fetch', async () => {
    const { scene, find } = createScene(publish(first))
    await find(first)
    scene.answer = publish(first, second)
    await expect(find(second)).rejects.toBeInstanceOf(KeysUnavailableError)
    scene.nowMs += MINUTE
    expect(await find(second)).toHaveLength(1)
  })

  test('never waits for a dead endpoint when it has the key', async () => {
    const { scene, find } = createScene(publish(first))
    await find(first)
    scene.answer = () => new Promise(() => undefined)
    scene.nowMs += 15 * MINUTE
    void find(second).catch(() => undefined)
    for (let attempt = 0; attempt < 3; attempt += 1) expect(await find(first)).toHaveLength(1)
    expect(scene.fetches).toBe(2)
  })

  test('uses no key that was withdrawn while nobody asked for keys', async () => {
    const { scene, find } = createScene(publish(first))
    await find(first)
    scene.answer = publish(second)
    scene.nowMs += HOUR
    await expect(find(first)).rejects.toMatchObject({ err: 'invalid_key' })
    expect(await find(second)).toHaveLength(1)
    expect(scene.fetches).toBe(2)
  })

  test('uses no key that was withdrawn while nobody asked, also when the last fetch before had failed', async () => {
    const { scene, find } = createScene(publish(first))
    await find(first)
    scene.answer = fail
    scene.nowMs += 11 * MINUTE
    await find(first)
    await expect.poll(() => scene.fetches).toBe(2)
    scene.answer = publish(second)
    scene.nowMs += 20 * HOUR
    const found = await Promise.allSettled([find(first), find(first)])
    expect(found.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })

  test('uses no key that was withdrawn because a fetch failed hours ago, however long keys are fresh', async () => {
    const { scene, find } = createScene(publish(first), { refreshAfterMs: 4 * HOUR })
    await find(first)
    scene.answer = fail
    scene.nowMs += 4 * HOUR + MINUTE
    await find(first)
    await expect.poll(() => scene.fetches).toBe(2)
    scene.answer = publish(second)
    scene.nowMs += 4 * HOUR - MINUTE
    await expect(find(first)).rejects.toMatchObject({ err: 'invalid_key' })
  })

  test('waits once in the cool-down for a dead endpoint when nobody has asked for long, and serves on', async () => {
    const { scene, find } = createScene(publish(first))
    await find(first)
    scene.nowMs += HOUR
    let failing: (error: Error) => void = () => undefined
    scene.answer = () => new Promise((_resolve, reject) => (failing = reject))
    const found = find(first)
    await expect.poll(() => scene.fetches).toBe(2)
    failing(new Error('dead'))
    expect(await found).toHaveLength(1)
    scene.nowMs += 29_000
    expect(await find(first)).toHaveLength(1)
    expect(scene.fetches).toBe(2)
  })

  test.each([
    ['all the time', MINUTE],
    ['now and then', 9 * MINUTE],
    ['after a while only', 20 * MINUTE],
  ])(
    'uses no key for more than 20 minutes after it was withdrawn, whatever max-age says, asked %s',
    async (_title, pauseMs) => {
      const headers = { 'cache-control': 'public, max-age=86400' }
      const publishLong = (key: TestKey) => () => Response.json(jwksOf(key), { headers })
      const { scene, find } = createScene(publishLong(first))
      await find(first)
      scene.answer = publishLong(second)
      const end = scene.nowMs + 20 * MINUTE
      while (scene.nowMs + pauseMs < end) {
        scene.nowMs += pauseMs
        await find(first).catch(() => undefined)
      }
      scene.nowMs = end
      await expect(find(first)).rejects.toThrow('key')
      expect(await find(second)).toHaveLength(1)
    },
  )

  test('uses no withdrawn key for long because one fetch failed in passing', async () => {
    const { scene, find } = createScene(publish(first))
    await find(first)
    scene.answer = fail
    scene.nowMs += 20 * MINUTE - 1_000
    await find(first)
    await expect.poll(() => scene.fetches).toBe(2)
    scene.answer = publish(second)
    scene.nowMs += 31_000
    await expect(find(first)).rejects.toMatchObject({ err: 'invalid_key' })
  })

  test('uses no withdrawn key for longer than the cool-down, where keys are to be fresh for less', async () => {
    const { scene, find } = createScene(publish(first), { refreshAfterMs: 1_000 })
    await find(first)
    scene.answer = publish(second)
    scene.nowMs += 29_000
    expect(await find(first)).toHaveLength(1)
    scene.nowMs += 1_000
    await expect(find(first)).rejects.toMatchObject({ err: 'invalid_key' })
  })

  test('is asked to keep keys for longer by its options alone', async () => {
    const headers = { 'cache-control': 'max-age=3600', age: '1800' }
    const answer = () => Response.json(jwksOf(first), { headers })
    const { scene, find } = createScene(answer, { refreshAfterMs: 2 * HOUR })
    await find(first)
    scene.nowMs += 29 * MINUTE
    await find(first)
    expect(scene.fetches).toBe(1)
    scene.nowMs += MINUTE
    await find(first)
    expect(scene.fetches).toBe(2)
  })

  test('refreshes after a shorter max-age, but not before the cool-down has ended', async () => {
    const headers = { 'cache-control': 'max-age=5' }
    const { scene, find } = createScene(() => Response.json(jwksOf(first), { headers }))
    await find(first)
    scene.nowMs += 10_000
    await find(first)
    expect(scene.fetches).toBe(1)
    scene.nowMs += MINUTE
    await find(first)
    expect(scene.fetches).toBe(2)
  })

  test('serves known keys while fetching fails, up to their usable age', async () => {
    const { scene, find } = createScene(publish(first))
    await find(first)
    scene.answer = fail
    scene.nowMs += 23 * HOUR
    expect(await find(first)).toHaveLength(1)
    scene.nowMs += 2 * HOUR
    await expect(find(first)).rejects.toBeInstanceOf(KeysUnavailableError)
    scene.answer = publish(first)
    scene.nowMs += MINUTE
    expect(await find(first)).toHaveLength(1)
  })

  test('does not condemn an unknown key while the latest keys cannot be read', async () => {
    const { scene, find } = createScene(publish(first))
    await find(first)
    scene.answer = fail
    scene.nowMs += MINUTE
    await expect(find(second)).rejects.toBeInstanceOf(KeysUnavailableError)
  })

  test.each([
    ['an error status', fail],
    ['something that is not JSON', () => new Response('<html>')],
    ['something that is no JWKS', () => Response.json({ keys: 'none' })],
    ['a body over the cap', () => new Response('x'.repeat(10_001))],
    ['a redirect', () => new Response(null, { status: 302, headers: { location: '/x' } })],
    ['a failing connection', () => Promise.reject(new TypeError('refused'))],
  ])('says that the keys are unavailable when the first answer is %s', async (_title, answer) => {
    const { find } = createScene(answer)
    await expect(find(first)).rejects.toBeInstanceOf(KeysUnavailableError)
  })

  test('fetches keys although the clock was set back after a failure', async () => {
    const { scene, find } = createScene(fail)
    await expect(find(first)).rejects.toBeInstanceOf(KeysUnavailableError)
    scene.nowMs -= HOUR
    scene.answer = publish(first)
    expect(await find(first)).toHaveLength(1)
  })

  test('serves on and refreshes when the clock is set back, and ends keys in time all the same', async () => {
    const { scene, find } = createScene(publish(first))
    await find(first)
    scene.nowMs -= 5 * HOUR
    scene.answer = fail
    expect(await find(first)).toHaveLength(1)
    expect(scene.fetches).toBe(2)
    scene.nowMs += 24 * HOUR
    await expect(find(first)).rejects.toBeInstanceOf(KeysUnavailableError)
  })

  test.each([
    'refreshAfterMs',
    'usableForMs',
    'cooldownMs',
    'timeoutMs',
    'bytesMax',
    'isHttpAllowed',
    'nowMs',
  ])('has its default for %s when that is undefined', async (name) => {
    let fetches = 0
    const keySource = createRemoteKeySource({
      jwksUri: 'https://transmitter.example.com/jwks.json',
      fetch: async () => {
        fetches += 1
        return publish(first)()
      },
      ...Object.fromEntries([[name, undefined]]),
    })
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(await keySource.findKeys({ alg: 'ES256', kid: 'first' })).toHaveLength(1)
      const unknown = keySource.findKeys({ alg: 'ES256', kid: 'second' })
      await expect(unknown).rejects.toBeInstanceOf(KeysUnavailableError)
    }
    expect(fetches).toBe(1)
  })

  test('never uses symmetric or private keys that a JWKS holds', async () => {
    const secret = { kty: 'oct', k: 'AAAA', kid: 'second', alg: 'ES256' }
    const { find } = createScene(() => Response.json({ keys: [secret, ...jwksOf(first).keys] }))
    await expect(find(second)).rejects.toMatchObject({ err: 'invalid_key' })
    expect(await find(first)).toHaveLength(1)
  })

  test('keeps the public keys of a JWKS and nothing else', async () => {
    const privateJwk = await exportJWK(second.privateKey)
    const secret = { kty: 'oct', k: 'AAAA' }
    const keys = [privateJwk, secret, 'text', null, first.publicJwk]
    expect(readJwks({ keys })).toEqual({ keys: [first.publicJwk] })
    expect(() => readJwks({ keys: Array.from({ length: 101 }, () => secret) })).toThrow(
      new TypeError('the JWKS has more than 100 keys'),
    )
  })

  test('refuses a URL that is neither HTTPS nor loopback, or none at all', () => {
    expect(() => createRemoteKeySource({ jwksUri: 'nonsense' })).toThrow(
      new TypeError('nonsense must be an absolute URL'),
    )
    expect(() => createRemoteKeySource({ jwksUri: 'http://transmitter.example.com/' })).toThrow(
      TypeError,
    )
    expect(() => createRemoteKeySource({ jwksUri: 'http://127.0.0.1:1/' })).not.toThrow()
  })
})
