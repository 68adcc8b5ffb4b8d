import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { SECOND_MS } from '../clock.ts'

/** Rejects while the thing that it looks at cannot serve. */
export type ReadinessCheck = () => Promise<void>

const CHECK_TIMEOUT_MS = 2 * SECOND_MS

/**
 * Serves `/healthz` (the process answers: 200 as long as it does) and `/readyz` (it can serve: 200 when
 * every check passes within two seconds, else 503). Both are public; the reasons of a failure go to
 * the log only.
 */
export function registerHealth(
  app: FastifyInstance,
  checks: Readonly<Record<string, ReadinessCheck>>,
): void {
  const running = new Map<ReadinessCheck, Promise<void>>()
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (request, reply) => {
    const results = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => {
        const failure = await findFailure(shareCheck(running, check))
        if (failure !== undefined)
          request.log.warn({ err: failure.reason, check: name }, 'not ready')
        return [name, failure === undefined ? 'ok' : 'failed'] as const
      }),
    )
    const isReady = results.every(([, result]) => result === 'ok')
    return reply
      .code(isReady ? 200 : 503)
      .send({ status: isReady ? 'ok' : 'unavailable', checks: Object.fromEntries(results) })
  })
}

/** Whoever asks while a check still runs joins it: questions do not pile up behind a database that is away. */
function shareCheck(
  running: Map<ReadinessCheck, Promise<void>>,
  check: ReadinessCheck,
): Promise<void> {
  const joined = running.get(check)
  if (joined !== undefined) return joined
  const begun = check().finally(() => running.delete(check))
  running.set(check, begun)
  return begun
}

async function findFailure(check: Promise<void>): Promise<{ reason: unknown } | undefined> {
  const timer = new AbortController()
  try {
    await Promise.race([check, timeOut(timer.signal)])
    return undefined
  } catch (reason) {
    return { reason }
  } finally {
    timer.abort()
  }
}

async function timeOut(signal: AbortSignal): Promise<never> {
  await sleep(CHECK_TIMEOUT_MS, undefined, { signal })
  throw new Error(`no answer within ${CHECK_TIMEOUT_MS} ms`)
}
