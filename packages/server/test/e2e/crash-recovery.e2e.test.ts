import { createServer, type Server } from 'node:http'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  createPollClient,
  createPushHandler,
  createSetVerifier,
  type VerifiedSet,
} from '@heliograph/receiver'
import { toNodeHandler } from '@heliograph/receiver/node'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { waitUntilNoneLeft } from '../support/wait-until-none-left.ts'
import { ReportingAgent } from './support/reporting-agent.ts'
import { reservePort } from '../support/reserve-ports.ts'
import { createPreparedFolder } from './support/prepared-folder.ts'
import { ServiceProcess } from './support/service-process.ts'

/** Raise it for a long run: `HELIOGRAPH_TEST_KILLS=200 npm test -- --project e2e crash`. */
const KILLS = Number(process.env['HELIOGRAPH_TEST_KILLS'] ?? 6)
const AGENTS = 5
const COMPLIANCE_CHANGE =
  'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change'

/** What a receiver got, in the order in which it came. */
class Inbox {
  readonly sets: VerifiedSet[] = []
  readonly jtis = new Set<string>()

  take(set: VerifiedSet): void {
    if (this.jtis.has(set.jti)) return
    this.jtis.add(set.jti)
    this.sets.push(set)
  }

  txnsOf(deviceId: string): string[] {
    return this.sets.filter((set) => toDeviceId(set) === deviceId).map((set) => set.txn ?? '')
  }
}

describe('a service that is killed at random moments', () => {
  let folder: string
  let service: ServiceProcess
  let receiver: Server
  const pushed = new Inbox()
  const polled = new Inbox()
  const agents: ReportingAgent[] = []
  const problems: string[] = []

  beforeAll(async () => {
    folder = await createPreparedFolder('heliograph-crash-')
    service = new ServiceProcess({
      dataDir: join(folder, 'data'),
      port: await reservePort(),
      environment: {
        HELIOGRAPH_CHECK_INTERVAL_SECONDS: '1',
        HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '1000000',
        HELIOGRAPH_LOG_LEVEL: 'warn',
      },
    })
    await service.start()
  })

  afterAll(async () => {
    await service.stop()
    receiver.close()
    await rm(folder, { recursive: true, force: true })
  })

  it(
    `loses no acknowledged result and no event over ${KILLS} kills`,
    { timeout: 1_800_000 + KILLS * 60_000 },
    async () => {
      await service.command('organisation', 'set', '--compliance-threshold', 'notified')
      const key = await createKey(service)
      const push = await startPushReceiver()
      receiver = push.server
      const pushStream = await createStream(service, key, {
        name: 'push',
        delivery: { method: 'urn:ietf:rfc:8935', endpoint_url: push.url },
        events_requested: [COMPLIANCE_CHANGE],
      })
      const pollStream = await createStream(service, key, {
        name: 'poll',
        delivery: { method: 'urn:ietf:rfc:8936' },
        events_requested: [COMPLIANCE_CHANGE],
      })
      push.audience = pushStream.aud
      const stopPolling = new AbortController()
      const polling = createPollClient({
        endpointUrl: pollStream.delivery.endpoint_url,
        authorization: `Bearer ${key}`,
        verifier: createSetVerifier({
          issuer: service.baseUrl,
          audience: pollStream.aud,
          keys: { jwksUri: `${service.baseUrl}/ssf/jwks.json` },
        }),
        onEvent: (set) => polled.take(set),
        returnImmediately: true,
        idlePauseMs: 100,
        backOffMs: 100,
        backOffMaxMs: 500,
      }).start(stopPolling.signal)

      const failing = new Set([await findNotifyingCheckId(service, key)])
      const { secret } = (await service.command(
        'enrollment-secrets',
        'create',
        '--name',
        'e2e',
      )) as {
        secret: string
      }
      for (let index = 0; index < AGENTS; index += 1) {
        const agent = new ReportingAgent(service.baseUrl, `agent-${index}`, failing)
        await agent.enroll(secret)
        agents.push(agent)
      }
      const stopAgents = new AbortController()
      const reporting = agents.map((agent) => agent.run(stopAgents.signal))

      for (let kill = 0; kill < KILLS; kill += 1) {
        await sleep(300 + Math.random() * 1_200)
        // Every other one right after an acknowledgement: what is not durable then is lost.
        if (kill % 2 === 0) await Promise.race(agents.map((agent) => agent.nextAcknowledgement()))
        await service.kill(kill % 4 === 3 || Math.random() < 0.3)
        await Promise.all(agents.map((agent) => agent.hold()))
        await service.start()
        // Before newer answers take the place of those that were acknowledged.
        await expectAcknowledgedResults(folder, agents)
        for (const agent of agents) agent.release()
      }
      await sleep(1_500)
      stopAgents.abort()
      await Promise.all(reporting)

      const database = await connect(join(folder, 'data'))
      const changes = await listComplianceChanges(database)
      await database.end()
      await waitUntilNoneLeft(
        () => changes.filter(({ txn }) => !hasTxn(pushed, txn) || !hasTxn(polled, txn)).length,
      )
      stopPolling.abort()
      await polling

      for (const agent of agents) expect(agent.acknowledged.size).toBeGreaterThan(0)
      expect(changes.length).toBeGreaterThan(AGENTS)
      for (const { deviceId, txns } of groupByDevice(changes)) {
        expect(pushed.txnsOf(deviceId), `pushed in order for device ${deviceId}`).toEqual(txns)
        expect(polled.txnsOf(deviceId), `polled in order for device ${deviceId}`).toEqual(txns)
      }
      await expectAcknowledgedResults(folder, agents)
      expect(problems).toEqual([])
      expect(agents.map((agent) => agent.nodeInvalidCount)).toEqual(agents.map(() => 0))
      expect(await service.command('audit', 'verify')).toMatchObject({ is_whole: true })
    },
  )

  async function startPushReceiver() {
    const state = { audience: '', url: '', server: createServer() }
    const handle = toNodeHandler(async (request) =>
      createPushHandler({
        verifier: createSetVerifier({
          issuer: service.baseUrl,
          audience: state.audience,
          keys: { jwksUri: `${service.baseUrl}/ssf/jwks.json` },
        }),
        onEvent: (set) => pushed.take(set),
        onRefused: (outcome) => {
          if (outcome.kind === 'refused') problems.push(outcome.error.message)
        },
      })(request),
    )
    state.server.on('request', handle)
    await new Promise<void>((resolve) => state.server.listen(0, '127.0.0.1', resolve))
    const address = state.server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    state.url = `http://127.0.0.1:${port}/events`
    return state
  }
})

interface Stream {
  readonly aud: string
  readonly delivery: { readonly endpoint_url: string }
}

interface ComplianceChange {
  readonly deviceId: string
  readonly txn: string
}

async function createKey(service: ServiceProcess): Promise<string> {
  const admin = ['--email', 'admin@example.com', '--first-name', 'Ada', '--last-name', 'Admin']
  await service.command('admins', 'create', ...admin)
  const permission = 'Manage Shared Signals Framework Streams=crash test'
  const responsible = ['--responsible', 'admin@example.com', '--permission', permission]
  const created = await service.command('keys', 'create', '--name', 'e2e', ...responsible)
  return (created as { key: string }).key
}

async function createStream(service: ServiceProcess, key: string, body: object): Promise<Stream> {
  const response = await fetch(`${service.baseUrl}/ssf_streams`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(201)
  return (await response.json()) as Stream
}

/** A check for Linux whose failure makes a device Notified. */
async function findNotifyingCheckId(service: ServiceProcess, key: string): Promise<string> {
  const response = await fetch(`${service.baseUrl}/checks?query=slug:firewall`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const { data } = (await response.json()) as { data: { id: string }[] }
  const id = data[0]?.id
  if (id === undefined) throw new Error('there is no firewall check')
  return id
}

async function connect(dataDir: string): Promise<Client> {
  const text = await readFile(join(dataDir, 'database.json'), 'utf8')
  const { connection } = JSON.parse(text) as { connection: object }
  const client = new Client(connection)
  // The server goes away under it when the test fails early.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

async function listComplianceChanges(database: Client): Promise<ComplianceChange[]> {
  const { rows } = await database.query<ComplianceChange>(
    `select device_id::text as "deviceId", txn from device_status_transition
     where from_compliance <> to_compliance order by id`,
  )
  return rows
}

function groupByDevice(changes: readonly ComplianceChange[]) {
  const byDevice = Object.groupBy(changes, ({ deviceId }) => deviceId)
  return Object.entries(byDevice).map(([deviceId, own = []]) => ({
    deviceId,
    txns: own.map(({ txn }) => txn),
  }))
}

/** An answer that was recorded although its acknowledgement was lost may be there besides. */
async function expectAcknowledgedResults(
  folder: string,
  agents: readonly ReportingAgent[],
): Promise<void> {
  const database = await connect(join(folder, 'data'))
  for (const agent of agents) {
    const { rows } = await database.query<{ check_id: string; marker: string | null }>(
      `select r.check_id::text, r.rows->0->>'marker' as marker
       from check_result r join device d on d.id = r.device_id where d.host_identifier = $1`,
      [agent.hostIdentifier],
    )
    const stored = new Map(rows.map(({ check_id, marker }) => [check_id, Number(marker ?? 0)]))
    for (const [checkId, marker] of agent.acknowledged) {
      const what = `check ${checkId} of ${agent.hostIdentifier}`
      expect(stored.get(checkId), what).toBeGreaterThanOrEqual(marker)
    }
  }
  await database.end()
}

function hasTxn(inbox: Inbox, txn: string): boolean {
  return inbox.sets.some((set) => set.txn === txn)
}

function toDeviceId(set: VerifiedSet): string | undefined {
  const subject = set.claims['sub_id'] as { device?: { sub?: string } } | undefined
  return subject?.device?.sub
}
