/*
 * What an enrollment costs: devices that are new enroll by POST /osquery/enroll into an organisation with 44 checks,
 * against the real service. CPU time of the service and of PostgreSQL together, bytes of its log and statements, each
 * for one enrollment; beside it a bare server that is sent the same.
 */
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { createEnrollmentSecret } from '../src/posture/enrollment/secrets/create-enrollment-secret.ts'
import { ENROLL_PATH, enrollmentOf } from './bench-agents.ts'
import { insertChecksUpTo } from './fleet-store.ts'
import {
  measureEchoCpuMs,
  measureRequestCost,
  sendLoad,
  startLoadGenerator,
} from './request-cost.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { appendServerSettings } from './server-settings.ts'
import { openCostReader } from './service-cost.ts'
import { startServiceUnderTest } from './service-under-test.ts'
import { COUNTING_SETTING, countStatements, startCountingStatements } from './statement-counter.ts'

const DEVICES_COUNT = 2_000
const CHECKS_COUNT = 44
const CONNECTIONS = 16
const ANSWER_BYTES = 60
const CPU_MS_TARGET = 5

export const enrollments: Scenario = {
  title: `Enrollments of new devices with ${CHECKS_COUNT} checks`,
  run: measure,
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  run.progress('starting the service')
  const generator = startLoadGenerator(run)
  let secret = ''
  const service = await startServiceUnderTest(run, {
    prepareFolder: (dataDir) => appendServerSettings(dataDir, [COUNTING_SETTING]),
    prepare: async ({ db, runChange, sealer }) => {
      await insertChecksUpTo(db, { platform: 'linux', count: CHECKS_COUNT })
      const created = await runChange({ actor: SYSTEM_ACTOR }, (change) =>
        createEnrollmentSecret(change, sealer, { name: 'Bench', personId: null, expiresAt: null }),
      )
      secret = created.secret
    },
  })
  await startCountingStatements(service)
  const readCost = await openCostReader(service)
  const count = Math.max(100, Math.round(DEVICES_COUNT * run.scale))
  const enroll = (first: number, devices: number) =>
    Array.from({ length: devices }, (_, index) => ({
      path: ENROLL_PATH,
      body: JSON.stringify(enrollmentOf(first + index, secret)),
    }))
  const load = { port: service.port, connections: CONNECTIONS, measureMs: 'once' } as const
  run.progress('first enrollments')
  await sendLoad(run, generator, { ...load, requests: enroll(1, 200) })
  run.progress(`${count} enrollments`)
  const { db } = service.services
  const requests = enroll(201, count)
  const statementsBefore = await countStatements(db)
  const cost = await measureRequestCost(run, generator, readCost, { ...load, requests })
  const statements = ((await countStatements(db)) - statementsBefore) / count
  const echoMs = await measureEchoCpuMs(run, generator, ANSWER_BYTES, { ...load, requests })
  return [
    {
      what: 'CPU time of an enrollment',
      target: `<= ${CPU_MS_TARGET} ms`,
      measured: { value: cost.cpuMs, unit: 'ms' },
      limit: { what: 'bare answer', value: echoMs, unit: 'ms' },
      ratio: undefined,
      isReached: cost.cpuMs <= CPU_MS_TARGET,
      details: {
        service_ms: cost.serviceCpuMs,
        database_ms: cost.databaseCpuMs,
        wal_bytes: cost.walBytes,
        statements,
        enrollments_per_second: (cost.load.answered / cost.load.elapsedMs) * 1000,
        p50_ms: cost.load.latencyMs.p50,
        p99_ms: cost.load.latencyMs.p99,
      },
    },
  ]
}
