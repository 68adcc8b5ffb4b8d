import { Pool } from 'undici'
import { SET_MEDIA_TYPE } from '@heliograph/ssf'
import { newUuid } from '../src/platform/ids.ts'
import type { KeyRing } from '../src/signals/signing/key-ring.ts'
import { complianceChangeClaims } from './compliance-change-claims.ts'

/** As many as the signing threads take at once, and enough of them that no thread waits. */
const BATCH_SIZE = 32
const BATCHES_UNDER_WAY = 8
const CONNECTIONS = 32

/**
 * The machine's own limit of signing and sending: payloads with a fresh id, signed in batches by the
 * worker threads, POSTed with a plain undici pool. No database, no order, no log, no guard. Answers
 * events per second over at least `seconds`.
 */
export async function measureBareSignAndPost(
  keyRing: Pick<KeyRing, 'activeKid' | 'sign'>,
  url: string,
  seconds: number,
): Promise<number> {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections: CONNECTIONS, keepAliveTimeout: 60_000 })
  const kid = keyRing.activeKid()
  const startMs = performance.now()
  const endMs = startMs + seconds * 1000
  let sent = 0

  async function post(token: string): Promise<void> {
    const { statusCode, body } = await pool.request({
      path: pathname,
      method: 'POST',
      headers: { 'content-type': SET_MEDIA_TYPE, accept: 'application/json' },
      body: token,
    })
    await body.dump()
    if (statusCode !== 202) throw new Error(`the receiver answered ${statusCode}`)
    sent += 1
  }

  async function sendBatches(): Promise<void> {
    while (performance.now() < endMs) {
      const payloads = Array.from({ length: BATCH_SIZE }, (_, index) =>
        JSON.stringify(complianceChangeClaims(newUuid(), String(index))),
      )
      await Promise.all((await keyRing.sign(kid, payloads)).map(post))
    }
  }

  try {
    await Promise.all(Array.from({ length: BATCHES_UNDER_WAY }, sendBatches))
    return (sent / (performance.now() - startMs)) * 1000
  } finally {
    await pool.destroy()
  }
}
