/*
 * Agents that send every answer in a message of its own: 40 devices answer a round of 44 checks at once, each answer
 * one POST /osquery/distributed/write, against the real service. How long an answer waits, and how long the lists of
 * the API take meanwhile, which share the connections to the database.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { createEnrollmentSecret } from '../src/posture/enrollment/secrets/create-enrollment-secret.ts'
import type { ServiceFoundation } from '../src/app/foundation.ts'
import { createKeyAdmin, createTestKey } from '../test/support/api-keys.ts'
import { enrollAgents, type BenchAgent } from './bench-agents.ts'
import { insertChecksUpTo } from './fleet-store.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { startServiceUnderTest } from './service-under-test.ts'
import { summariseLatencies } from './statistics.ts'

const DEVICES_COUNT = 40
const CHECKS_COUNT = 44
const ROUND_MS = 2_000
const LIST_INTERVAL_MS = 100
const WRITE_PATH = '/osquery/distributed/write'
const WRITE_P99_TARGET_MS = 10_000

export const singleAnswers: Scenario = {
  title: `${DEVICES_COUNT} devices that send each of ${CHECKS_COUNT} answers by itself`,
  run: measure,
}

interface Timings {
  readonly latencies: number[]
  failures: number
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  run.progress('starting the service')
  let secret = ''
  let key = ''
  const service = await startServiceUnderTest(run, {
    environment: { HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '100000' },
    prepare: async (services) => {
      await insertChecksUpTo(services.db, { platform: 'linux', count: CHECKS_COUNT })
      secret = await createSecret(services)
      await createKeyAdmin(services.runChange)
      key = await createTestKey(services, [])
    },
  })
  run.progress(`enrolling ${DEVICES_COUNT} devices`)
  const { agents } = await enrollAgents(run, service, { secret, count: DEVICES_COUNT })
  const pool = new Pool(service.url, { connections: DEVICES_COUNT * CHECKS_COUNT })
  run.cleanup.add(() => pool.destroy())
  const [writes, lists]: [Timings, Timings] = [
    { latencies: [], failures: 0 },
    { latencies: [], failures: 0 },
  ]
  const ending = new AbortController()
  const listing = listAgainAndAgain(pool, key, lists, ending.signal)
  const rounds = Math.max(2, Math.round((run.seconds * 1_000) / ROUND_MS))
  for (let round = 0; round < rounds; round += 1) {
    run.progress(`round ${round + 1} of ${rounds}`)
    const status = round % 2 === 0 ? 'FAIL' : 'PASS'
    await Promise.all(agents.map((agent) => answerAll(pool, agent, status, writes)))
    run.signal.throwIfAborted()
  }
  ending.abort()
  await listing
  return [
    toMeasurement('answers of devices', writes),
    toMeasurement('lists of the API meanwhile', lists),
  ]
}

async function createSecret({ runChange, sealer }: ServiceFoundation): Promise<string> {
  const { secret } = await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    createEnrollmentSecret(change, sealer, { name: 'Bench', personId: null, expiresAt: null }),
  )
  return secret
}

async function answerAll(
  pool: Pool,
  { nodeKey, queryIds }: BenchAgent,
  status: 'PASS' | 'FAIL',
  timings: Timings,
): Promise<void> {
  const answer = (id: string) =>
    JSON.stringify({
      node_key: nodeKey,
      queries: { [id]: [{ KOLIDE_CHECK_STATUS: status }] },
      statuses: { [id]: 0 },
    })
  await Promise.all(
    queryIds.map((id) =>
      time(timings, () => pool.request({ path: WRITE_PATH, method: 'POST', body: answer(id) })),
    ),
  )
}

async function listAgainAndAgain(
  pool: Pool,
  key: string,
  timings: Timings,
  signal: AbortSignal,
): Promise<void> {
  const headers = { authorization: `Bearer ${key}` }
  while (!signal.aborted) {
    await time(timings, () => pool.request({ path: '/devices', method: 'GET', headers }))
    await sleep(LIST_INTERVAL_MS)
  }
}

async function time(timings: Timings, send: () => ReturnType<Pool['request']>): Promise<void> {
  const startMs = performance.now()
  const { statusCode, body } = await send()
  await body.dump()
  if (statusCode === 200) timings.latencies.push(performance.now() - startMs)
  else timings.failures += 1
}

function toMeasurement(what: string, { latencies, failures }: Timings): Measurement {
  const { count, p50, p99, max } = summariseLatencies(latencies)
  return {
    what,
    target: 'p99 < 10 s, none refused',
    measured: { value: p99, unit: 'ms' },
    limit: undefined,
    ratio: undefined,
    isReached: failures === 0 && p99 < WRITE_P99_TARGET_MS,
    details: {
      count,
      failures,
      mean_ms: latencies.reduce((sum, each) => sum + each, 0) / Math.max(1, count),
      p50_ms: p50,
      max_ms: max,
    },
  }
}
