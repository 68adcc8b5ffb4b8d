import { hash as hashWith, parseOptions } from '@node-rs/argon2'
import { describe, expect, it } from 'vitest'
import { createBoundedWork } from '../bounded-work.ts'
import { createPasswordHasher } from './password-hasher.ts'

const PASSWORD = 'correct horse battery staple'
const hasher = createPasswordHasher(createBoundedWork({ runningMax: 2, waitingMax: 4 }))

describe('the hash of a password', () => {
  it('is Argon2id with its parameters and a salt of its own', async () => {
    const [first, second] = [await hasher.hash(PASSWORD), await hasher.hash(PASSWORD)]
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=3,p=1\$/)
    expect(first).not.toBe(second)
    expect(parseOptions(first)).toMatchObject({ saltLen: 16, outputLen: 32 })
  })

  it('knows its password and no other', async () => {
    const stored = await hasher.hash(PASSWORD)
    expect(await hasher.verify(stored, PASSWORD)).toBe(true)
    expect(await hasher.verify(stored, `${PASSWORD} `)).toBe(false)
    expect(await hasher.verify(undefined, PASSWORD)).toBe(false)
  })

  it('of other parameters is still read, and says that it is outdated', async () => {
    const old = await hashWith(PASSWORD, { memoryCost: 8_192, timeCost: 2, parallelism: 1 })
    expect(await hasher.verify(old, PASSWORD)).toBe(true)
    expect(await hasher.isOutdated(old)).toBe(true)
    expect(await hasher.isOutdated(await hasher.hash(PASSWORD))).toBe(false)
  })

  it('is worked out within bounds: what would wait too long is refused', async () => {
    const busy = createPasswordHasher(createBoundedWork({ runningMax: 1, waitingMax: 1 }))
    const answers = await Promise.allSettled([1, 2, 3, 4].map(() => busy.hash(PASSWORD)))
    const refused = answers.filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(2)
    expect(refused[0]).toMatchObject({ reason: { code: 'unavailable' } })
    expect(await busy.verify(undefined, PASSWORD)).toBe(false)
  })
})
