import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { SECOND_MS } from '../clock.ts'
import { findDatabaseFault, hindersWrites } from '../db/database-fault.ts'

/** Rejects while the thing that it looks at cannot serve. */
export interface ReadinessCheck {
  (): Promise<void>
  /** Whether it asks the database, without which it can tell nothing. */
  readonly needsDatabase?: boolean
}

/** A check that asks the database. */
export function askingDatabase(check: () => Promise<void>): ReadinessCheck {
  return Object.assign(() => check(), { needsDatabase: true })
}

const CHECK_TIMEOUT_MS = 2 * SECOND_MS
/** The check that others need an answer of. */
const DATABASE = 'database'

/**
 * Serves `/healthz` (the process answers: 200 as long as it does) and `/readyz` (it can serve: 200 when
 * every check passes within two seconds, else 503). Both are public; the reasons of a failure go to
 * the log only. A check that asks the database and is not answered because it is away is `unknown`, and told by the
 * check of the database alone.
 */
export function registerHealth(
  app: FastifyInstance,
  checks: Readonly<Record<string, ReadinessCheck>>,
): void {
  const running = new Map<ReadinessCheck, Promise<void>>()
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (request, reply) => {
    const looks = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => ({
        name,
        needsDatabase: check.needsDatabase === true,
        failure: await findFailure(shareCheck(running, check)),
      })),
    )
    const isDatabaseAway = looks.some(({ name, failure }) => name === DATABASE && failure)
    const results = looks.map(({ name, needsDatabase, failure }) => {
      if (failure === undefined) return [name, 'ok'] as const
      const mayBeUnknown = isDatabaseAway && name !== DATABASE && needsDatabase
      if (mayBeUnknown && isForDatabase(failure.reason)) {
        return [name, 'unknown'] as const
      }
      request.log.warn({ err: failure.reason, check: name }, 'not ready')
      return [name, 'failed'] as const
    })
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

class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

async function timeOut(signal: AbortSignal): Promise<never> {
  await sleep(CHECK_TIMEOUT_MS, undefined, { signal })
  throw new NoAnswer(`no answer within ${CHECK_TIMEOUT_MS} ms`)
}

/** Whether a check failed for a database that did not answer it. */
function isForDatabase(reason: unknown): boolean {
  if (reason instanceof NoAnswer) return true
  const fault = findDatabaseFault(reason)
  return fault !== undefined && !hindersWrites(fault)
}
