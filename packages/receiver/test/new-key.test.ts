import { beforeAll, expect, test } from 'vitest'
import {
  createRemoteKeySource,
  createSetVerifier,
  KeysUnavailableError,
  type KeySource,
} from '../src/index.ts'
import {
  AUDIENCE,
  createTestKey,
  goodClaims,
  ISSUER,
  jwksOf,
  NOW_MS,
  signSet,
  type TestKey,
} from './support/signing.ts'

const MINUTE = 60_000
const NO_KID = { kid: undefined }

let old: TestKey
let fresh: TestKey
let stranger: TestKey

beforeAll(async () => {
  old = await createTestKey('k1', 'ES256')
  fresh = await createTestKey('k2', 'ES256')
  stranger = await createTestKey('k1', 'ES256')
})

/** A verifier that has fetched the old key, at a transmitter whose keys the test sets. */
async function createScene(toSource = (source: KeySource): KeySource => source) {
  const scene = { nowMs: NOW_MS, fetches: 0, published: [old], isDown: false }
  const source = createRemoteKeySource({
    jwksUri: 'https://transmitter.example.com/jwks.json',
    nowMs: () => scene.nowMs,
    fetch: async () => {
      scene.fetches += 1
      if (scene.isDown) return new Response('busy', { status: 503 })
      return Response.json(jwksOf(...scene.published))
    },
  })
  const names = { issuer: ISSUER, audience: AUDIENCE, nowMs: () => NOW_MS }
  const verifier = createSetVerifier({ ...names, keys: toSource(source) })
  await verifier.verify(await signSet(old))
  return { scene, verify: (token: string) => verifier.verify(token) }
}

const outcomeOf = (verified: Promise<unknown>) =>
  verified.then(
    () => 'good',
    (error: unknown) => error,
  )

test('a SET without kid is verified by a key that was published after the keys were fetched', async () => {
  const { scene, verify } = await createScene()
  scene.published = [old, fresh]
  const token = await signSet(fresh, goodClaims(), NO_KID)
  await expect(verify(token)).rejects.toBeInstanceOf(KeysUnavailableError)
  expect(scene.fetches).toBe(1)
  scene.nowMs += MINUTE
  expect(await verify(token)).toMatchObject({ jti: 'jti-1' })
  expect(scene.fetches).toBe(2)
})

test('SETs at the same time are verified by a new key under a name that was used before', async () => {
  const { scene, verify } = await createScene()
  scene.published = [stranger]
  scene.nowMs += MINUTE
  const tokens = [await signSet(stranger), await signSet(stranger)]
  expect(await Promise.all(tokens.map((token) => outcomeOf(verify(token))))).toEqual([
    'good',
    'good',
  ])
  expect(scene.fetches).toBe(2)
})

test('a SET that its key did not sign is refused, with one fetch in a cool-down at most', async () => {
  const { scene, verify } = await createScene()
  const forged = await signSet(stranger)
  for (const fetches of [1, 2]) {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await expect(verify(forged)).rejects.toMatchObject({ err: 'authentication_failed' })
    }
    expect(scene.fetches).toBe(fetches)
    scene.nowMs += MINUTE
  }
  scene.isDown = true
  await expect(verify(forged)).rejects.toMatchObject({ err: 'authentication_failed' })
})

test('a SET without kid that no key signed is refused after a fetch of its own, or two', async () => {
  const { scene, verify } = await createScene()
  const [forged, other] = await Promise.all(
    ['jti-1', 'jti-2'].map((jti) => signSet(stranger, goodClaims({ jti }), NO_KID)),
  )
  if (forged === undefined || other === undefined) throw new Error('nothing was signed')
  for (const token of [forged, other, forged, other]) {
    await expect(verify(token)).rejects.toBeInstanceOf(KeysUnavailableError)
  }
  scene.nowMs += MINUTE
  await expect(verify(forged)).rejects.toMatchObject({ err: 'authentication_failed' })
  await expect(verify(other)).rejects.toBeInstanceOf(KeysUnavailableError)
  scene.nowMs += MINUTE
  await expect(verify(forged)).rejects.toMatchObject({ err: 'authentication_failed' })
  for (const token of [forged, other, forged, other]) {
    await expect(verify(token)).rejects.toMatchObject({ err: 'authentication_failed' })
  }
  expect(scene.fetches).toBe(3)
})

test('a SET without kid that no key signed comes again while keys cannot be fetched', async () => {
  const { scene, verify } = await createScene()
  scene.isDown = true
  scene.nowMs += MINUTE
  const token = await signSet(fresh, goodClaims(), NO_KID)
  await expect(verify(token)).rejects.toBeInstanceOf(KeysUnavailableError)
  expect(await outcomeOf(verify(await signSet(old)))).toBe('good')
})

test('a key source of your own may know nothing of other keys', async () => {
  const { scene, verify } = await createScene((source) => ({
    findKeys: (header) => source.findKeys(header),
  }))
  scene.nowMs += MINUTE
  await expect(verify(await signSet(stranger))).rejects.toMatchObject({
    err: 'authentication_failed',
  })
  expect(scene.fetches).toBe(1)
})
