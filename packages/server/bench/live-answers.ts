/*
 * What an answer to a live query costs: 10,000 devices answer one campaign, each by POST /osquery/distributed/write,
 * against the real service. CPU time of the service and of PostgreSQL together for one answer, and how long all
 * take; beside it a bare server that is sent the same, and the statement that stores a hundred answers at once.
 */
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { createCampaign } from '../src/posture/live-queries/create-campaign.ts'
import { insertOwedAnswers } from '../src/posture/live-queries/live-answer-store.ts'
import { toLiveQueryId } from '../src/posture/live-queries/live-query.ts'
import { READ_PATH } from './bench-agents.ts'
import { heldNodeKey, insertHeldFleet } from './held-fleet-store.ts'
import type { LoadRequest } from './load-program.ts'
import {
  measureEchoCpuMs,
  measureRequestCost,
  sendLoad,
  startLoadGenerator,
} from './request-cost.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { openCostReader, type ServiceCost } from './service-cost.ts'
import { startServiceUnderTest, type ServiceUnderTest } from './service-under-test.ts'

const DEVICES_COUNT = 10_000
const CONNECTIONS = 64
const WRITE_PATH = '/osquery/distributed/write'
const ANSWER_BYTES = 2
const GROUP_SIZE = 100
const CPU_MS_TARGET = 0.6
const ALL_MS_TARGET = 10_000
const ROW = { name: 'openssl', version: '3.0.13', source: 'deb' }

export const liveAnswers: Scenario = {
  title: `${DEVICES_COUNT} devices that answer a live query`,
  run: measure,
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  run.progress('starting the service')
  const generator = startLoadGenerator(run)
  const count = Math.max(GROUP_SIZE, Math.round(DEVICES_COUNT * run.scale))
  const service = await startServiceUnderTest(run, {
    environment: { HELIOGRAPH_CHECK_IN_HOLD_SECONDS: '0' },
    prepare: ({ db }) => insertHeldFleet(db, count),
  })
  const readCost = await openCostReader(service)
  const keys = Array.from({ length: count }, (_, index) => heldNodeKey(index + 1))
  const load = { port: service.port, connections: CONNECTIONS, measureMs: 'once' } as const
  run.progress('letting the service know its devices')
  const readRequests = keys.map((key) => ({
    path: READ_PATH,
    body: JSON.stringify({ node_key: key }),
  }))
  await sendLoad(run, generator, { ...load, requests: readRequests })
  const campaignId = await createOpenCampaign(service)
  const requests = keys.map((key) => toAnswer(key, campaignId))
  run.progress(`${count} answers`)
  const cost = await measureRequestCost(run, generator, readCost, { ...load, requests })
  await assertAnswered(service, campaignId, count)
  const echoMs = await measureEchoCpuMs(run, generator, ANSWER_BYTES, { ...load, requests })
  run.progress('storing as many answers without devices')
  const statementMs = await measureStatements(service, readCost, count)
  return [
    {
      what: 'CPU time of an answer to a live query',
      target: `<= ${CPU_MS_TARGET} ms`,
      measured: { value: cost.cpuMs, unit: 'ms' },
      limit: { what: 'bare answer and statement', value: echoMs + statementMs, unit: 'ms' },
      ratio: undefined,
      isReached: cost.cpuMs <= CPU_MS_TARGET,
      details: {
        service_ms: cost.serviceCpuMs,
        database_ms: cost.databaseCpuMs,
        bare_answer_ms: echoMs,
        statement_alone_ms: statementMs,
        wal_bytes: cost.walBytes,
        p50_ms: cost.load.latencyMs.p50,
        p99_ms: cost.load.latencyMs.p99,
      },
    },
    {
      what: `until ${count} devices have answered`,
      target: `<= ${ALL_MS_TARGET / 1000} s`,
      measured: { value: cost.load.elapsedMs / 1000, unit: 's' },
      limit: undefined,
      ratio: undefined,
      isReached: cost.load.elapsedMs <= ALL_MS_TARGET,
      details: { connections: CONNECTIONS },
    },
  ]
}

async function createOpenCampaign({ services }: ServiceUnderTest): Promise<string> {
  const { id } = await services.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    createCampaign(change, {
      name: 'Bench',
      sql: 'select name, version, source from deb_packages limit 1',
      targetAllDevices: true,
    }),
  )
  return id
}

function toAnswer(nodeKey: string, campaignId: string): LoadRequest {
  const id = toLiveQueryId({ campaignId, revision: 1 })
  const answer = { node_key: nodeKey, queries: { [id]: [ROW] }, statuses: { [id]: 0 } }
  return { path: WRITE_PATH, body: JSON.stringify(answer) }
}

async function assertAnswered(
  { services: { db } }: ServiceUnderTest,
  campaignId: string,
  count: number,
): Promise<void> {
  const { stored } = await db
    .selectFrom('live_query_result')
    .select((eb) => eb.fn.countAll<string>().as('stored'))
    .where('campaign_id', '=', campaignId)
    .executeTakeFirstOrThrow()
  if (Number(stored) !== count) throw new Error(`${stored} of ${count} answers were stored`)
}

/** CPU time of PostgreSQL for one answer of those that a statement stores together. */
async function measureStatements(
  service: ServiceUnderTest,
  readCost: () => Promise<ServiceCost>,
  count: number,
): Promise<number> {
  const { runChange } = service.services
  const campaignId = await createOpenCampaign(service)
  const before = await readCost()
  for (let first = 1; first <= count; first += GROUP_SIZE) {
    const answers = Array.from({ length: Math.min(GROUP_SIZE, count - first + 1) }, (_, index) => ({
      device_id: String(first + index),
      campaign_id: campaignId,
      revision: 1,
      state: 'successful' as const,
      rows: [ROW],
      row_count: 1,
      error_message: null,
      warning_message: null,
    }))
    await runChange({ actor: SYSTEM_ACTOR }, (change) =>
      insertOwedAnswers(change.tx, answers, change.at),
    )
  }
  const after = await readCost()
  return (after.databaseCpuMs - before.databaseCpuMs) / count
}
