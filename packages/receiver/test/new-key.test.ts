import { beforeAll, expect, test } from 'vitest'
import { createRemoteKeySource, createSetVerifier, type KeySource } from '../src/index.ts'
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
  scene.nowMs += MINUTE
  expect(await verify(await signSet(fresh, goodClaims(), NO_KID))).toMatchObject({ jti: 'jti-1' })
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

test.each([
  ['whose key did not sign it', {}],
  ['without kid that no key signed', NO_KID],
])('a SET %s is refused at once, with one fetch in a cool-down at most', async (_what, header) => {
  const { scene, verify } = await createScene()
  for (const fetches of [1, 2]) {
    for (const jti of ['jti-1', 'jti-2', 'jti-3']) {
      const forged = await signSet(stranger, goodClaims({ jti }), header)
      await expect(verify(forged)).rejects.toMatchObject({ err: 'authentication_failed' })
    }
    expect(scene.fetches).toBe(fetches)
    scene.nowMs += MINUTE
  }
  scene.isDown = true
  const forged = await signSet(stranger, goodClaims(), header)
  await expect(verify(forged)).rejects.toMatchObject({ err: 'authentication_failed' })
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
