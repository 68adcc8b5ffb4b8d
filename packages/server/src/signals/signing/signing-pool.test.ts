import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { compactVerify, decodeProtectedHeader } from 'jose'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { SigningPool } from './signing-pool.ts'

let privateKeyPem: string
let publicKey: KeyObject
const pools: SigningPool[] = []

/** Answers one batch with its payloads and dies on the next. */
const DYING_WORKER = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads'
    let batches = 0
    parentPort.on('message', ({ type, batch, payloads }) => {
      if (type !== 'sign') return
      batches += 1
      if (batches > 1) process.exit(1)
      parentPort.postMessage({ type: 'signed', batch, tokens: payloads })
    })
  `)}`,
)

/** Answers the size of each batch in place of its first token. */
const TELLING_WORKER = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads'
    parentPort.on('message', ({ type, batch, payloads }) => {
      if (type !== 'sign') return
      const tokens = payloads.map((_, index) => (index === 0 ? String(payloads.length) : ''))
      parentPort.postMessage({ type: 'signed', batch, tokens })
    })
  `)}`,
)

/** Answers a batch with the number of the thread, once per payload, after a while. */
const NUMBERED_WORKER = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, threadId } from 'node:worker_threads'
    parentPort.on('message', ({ type, batch, payloads }) => {
      if (type !== 'sign') return
      const tokens = payloads.map(() => String(threadId))
      setTimeout(() => parentPort.postMessage({ type: 'signed', batch, tokens }), 20)
    })
  `)}`,
)

beforeAll(() => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
  privateKeyPem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  publicKey = createPublicKey(pair.publicKey.export({ type: 'spki', format: 'pem' }))
})

afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close()
})

function startPool(): SigningPool {
  const pool = new SigningPool({ threadCount: 2, batchSizeMax: 4 })
  pools.push(pool)
  return pool
}

describe('signing pool', () => {
  it('answers tokens in the order of the payloads, each valid and typed as a SET', async () => {
    const pool = startPool()
    pool.addKey('key-1', privateKeyPem)
    const payloads = Array.from({ length: 50 }, (_, index) => `{"jti":"${index}"}`)
    const tokens = await pool.sign('key-1', payloads)
    expect(tokens).toHaveLength(50)
    for (const [index, token] of tokens.entries()) {
      const { payload } = await compactVerify(token, publicKey)
      expect(Buffer.from(payload).toString()).toBe(payloads[index])
    }
    expect(decodeProtectedHeader(tokens[0]!)).toEqual({
      alg: 'RS256',
      kid: 'key-1',
      typ: 'secevent+jwt',
    })
  })

  it('makes the same bytes from the same payload and key, whichever thread signs', async () => {
    const pool = startPool()
    pool.addKey('key-1', privateKeyPem)
    const tokens = await pool.sign(
      'key-1',
      Array.from({ length: 20 }, () => '{"jti":"same"}'),
    )
    expect(new Set(tokens).size).toBe(1)
  })

  it('divides a few among its threads, so that none of them signs alone what others could', async () => {
    const pool = new SigningPool({ threadCount: 2, workerUrl: TELLING_WORKER })
    pools.push(pool)
    pool.addKey('key-1', privateKeyPem)
    const sizesOf = async (count: number) => {
      const tokens = await pool.sign('key-1', Array<string>(count).fill('{}'))
      return tokens.filter((token) => token !== '')
    }
    expect(await sizesOf(3)).toEqual(['3'])
    expect(await sizesOf(14)).toEqual(['7', '7'])
    expect(await sizesOf(128)).toEqual(['32', '32', '32', '32'])
  })

  it('starts a thread when there is something to sign, and more only while all that run are busy', async () => {
    const pool = new SigningPool({ threadCount: 3, batchSizeMax: 4, workerUrl: NUMBERED_WORKER })
    pools.push(pool)
    pool.addKey('key-1', privateKeyPem)
    const threadsOf = async (count: number) => {
      return new Set(await pool.sign('key-1', Array<string>(count).fill('{}'))).size
    }
    const alone = new Set<string>()
    for (let round = 0; round < 5; round += 1) {
      for (const token of await pool.sign('key-1', ['{}'])) alone.add(token)
    }
    expect(alone.size).toBe(1)
    await expect.poll(() => threadsOf(100)).toBe(3)
    expect(await threadsOf(4)).toBe(1)
  })

  it('takes a key that is added while threads run', async () => {
    const pool = startPool()
    pool.addKey('key-1', privateKeyPem)
    await pool.sign('key-1', ['{}'])
    pool.addKey('key-2', privateKeyPem)
    await expect(pool.sign('key-2', ['{}', '{}', '{}'])).resolves.toHaveLength(3)
  })

  it('repeats the batches of a thread that dies', async () => {
    // Of two threads, one batch may by chance be the second of each that dies, and be given up.
    const pool = new SigningPool({ threadCount: 1, batchSizeMax: 4, workerUrl: DYING_WORKER })
    pools.push(pool)
    pool.addKey('key-1', privateKeyPem)
    const payloads = Array.from({ length: 40 }, (_, index) => String(index))
    await expect(pool.sign('key-1', payloads)).resolves.toEqual(payloads)
  })

  it('refuses a batch whose key cannot be read, and goes on signing with the others', async () => {
    const pool = startPool()
    pool.addKey('broken', 'not a key')
    pool.addKey('key-1', privateKeyPem)
    await expect(pool.sign('broken', ['{}'])).rejects.toThrow()
    await expect(pool.sign('key-1', ['{}'])).resolves.toHaveLength(1)
  })

  it('refuses unknown keys, and everything once it is closed', async () => {
    const pool = startPool()
    await expect(pool.sign('unknown', ['{}'])).rejects.toThrow('no key unknown')
    pool.addKey('key-1', privateKeyPem)
    await pool.close()
    await expect(pool.sign('key-1', ['{}'])).rejects.toThrow('closed')
  })
})
