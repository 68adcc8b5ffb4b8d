import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDemoApi } from '../../src/cli/demo/demo-api.ts'
import { createDemoFleet, type DemoFleet } from '../../src/cli/demo/demo-fleet.ts'
import { startReceivers, type DemoReceivers } from '../../src/cli/demo/demo-receivers.ts'
import { EventTally } from '../../src/cli/demo/event-tally.ts'
import { prepareOrganisation } from '../../src/cli/demo/prepare-organisation.ts'
import type { Method } from '../../src/cli/demo/verified-event.ts'
import { loadConfig } from '../../src/app/config/load-config.ts'
import { waitUntilNoneLeft } from '../support/wait-until-none-left.ts'
import { RecordingProxy } from './support/recording-proxy.ts'
import { reservePort } from '../support/reserve-ports.ts'
import { createPreparedFolder } from './support/prepared-folder.ts'
import { ServiceProcess } from './support/service-process.ts'

/** Raise it for a long run: `HELIOGRAPH_TEST_KILLS=20 npm test -- --project e2e demo-load`. */
const KILLS = Number(process.env['HELIOGRAPH_TEST_KILLS'] ?? 3)
const DEVICES = 30
/**
 * By how much the service's time, which follows the database's, may be behind that of the proxy on a busy machine. The
 * result before one that was lost is older by far: of a round, or of none.
 */
const CLOCKS_DIFFER_MS = 1_000
/** Nobody signs in here. */
const NO_PROBES = { first: 20_000, last: 20_000 }

interface Delivery {
  readonly event_id: string
  readonly kind: string
}

describe('a service that is killed while the fleet of the demo reports', () => {
  const received: Record<Method, Set<string>> = { push: new Set(), poll: new Set() }
  const tally = new EventTally()
  let folder: string
  let service: ServiceProcess
  let proxy: RecordingProxy
  let receivers: DemoReceivers | undefined
  let fleet: DemoFleet

  beforeAll(async () => {
    folder = await createPreparedFolder('heliograph-demo-')
    service = new ServiceProcess({
      dataDir: join(folder, 'data'),
      port: await reservePort(),
      environment: {
        HELIOGRAPH_CHECK_INTERVAL_SECONDS: '5',
        HELIOGRAPH_CHECK_IN_INTERVAL_SECONDS: '2',
        HELIOGRAPH_LOG_LEVEL: 'warn',
      },
    })
    await service.start()
    proxy = new RecordingProxy(service.baseUrl)
    await proxy.listen()
    fleet = await createDemoFleet(proxy.url, DEVICES, NO_PROBES)
  })

  afterAll(async () => {
    await receivers?.stop()
    await fleet.stop()
    proxy.close()
    await service.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it(
    `keeps every acknowledged result and delivers every event over ${KILLS} kills`,
    { timeout: 1_800_000 + KILLS * 60_000 },
    async () => {
      const { baseUrl } = service
      const credentials = await prepareOrganisation(
        loadConfig(
          {},
          {
            HELIOGRAPH_DATA_DIR: join(folder, 'data'),
            HELIOGRAPH_PORT: new URL(baseUrl).port,
          },
        ),
        fleet.owners,
        'http://127.0.0.1:1/callback',
      )
      receivers = await startReceivers({
        baseUrl,
        api: createDemoApi(baseUrl, credentials.key),
        pollKey: credentials.pollKey,
        tally,
        onEvent: ({ method, jti }) => void received[method].add(jti),
      })
      fleet.start(credentials.secrets)
      await waitForDeliveries(folder, DEVICES)
      for (let kill = 0; kill < KILLS; kill += 1) {
        await sleep(Math.random() * 2_000)
        // Every other one right after an acknowledgement: what is not durable then is lost.
        if (kill % 2 === 0) await proxy.nextAcknowledgement()
        await service.kill(kill % 4 === 3)
        await proxy.hold()
        await service.start()
        // Before newer answers take the place of those that were acknowledged.
        await expectAcknowledgedResults(folder, proxy)
        proxy.release()
      }
      await waitForDeliveries(folder, 2 * DEVICES + 1)
      await fleet.stop()
      await proxy.hold()
      await expectAcknowledgedResults(folder, proxy)
      const deliveries = await listDeliveries(folder)
      const listMissing = () =>
        deliveries.filter(({ event_id: jti, kind }) => !received[toMethod(kind)].has(jti))
      await waitUntilNoneLeft(() => listMissing().length)

      expect(listMissing()).toEqual([])
      expect(await countUntoldChanges(folder)).toBe(0)
      expect(tally.summarise()).toMatchObject({ badSignatures: 0, otherRefusals: 0 })
      expect(await service.command('audit', 'verify')).toMatchObject({ is_whole: true })
    },
  )
})

function toMethod(kind: string): Method {
  return kind === 'ssf_push' ? 'push' : 'poll'
}

async function query<Row extends object>(folder: string, sql: string, values: unknown[] = []) {
  const text = await readFile(join(folder, 'data', 'database.json'), 'utf8')
  const client = new Client((JSON.parse(text) as { connection: object }).connection)
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<Row>(sql, values)).rows
  } finally {
    await client.end()
  }
}

/** Until the load has made at least so many deliveries. */
async function waitForDeliveries(folder: string, count: number): Promise<void> {
  const left = await waitUntilNoneLeft(async () => count - (await listDeliveries(folder)).length)
  if (left > 0) throw new Error(`${left} of ${count} deliveries are missing`)
}

function listDeliveries(folder: string): Promise<Delivery[]> {
  return query<Delivery>(
    folder,
    `select d.event_id, t.kind from delivery d
     join delivery_destination t on t.id = d.destination_id`,
  )
}

/** Changes of the word of compliance that were not queued for both streams. */
async function countUntoldChanges(folder: string): Promise<number> {
  const rows = await query<{ txn: string }>(
    folder,
    `select c.txn from device_status_transition c
     where c.from_compliance <> c.to_compliance
       and (select count(*) from delivery d where d.txn = c.txn
            and d.subject_key = 'device:' || c.device_id) <> 2`,
  )
  return rows.length
}

/** No acknowledged answer is newer than the result that is stored. */
async function expectAcknowledgedResults(folder: string, proxy: RecordingProxy): Promise<void> {
  const rows = await query<{ device_id: string; check_id: string; ran_at: Date | null }>(
    folder,
    `select device_id::text, check_id::text,
       case when follows_round then greatest(result.ran_at, round.ran_at) else result.ran_at end as ran_at
     from check_result result left join device_round round using (device_id)`,
  )
  const ranAt = new Map(
    rows.map((row) => [`${row.device_id}:${row.check_id}`, row.ran_at?.getTime()]),
  )
  const deviceIds = await listDeviceIds(folder, [...proxy.acknowledged.keys()])
  const lost: string[] = []
  for (const [nodeKey, results] of proxy.acknowledged) {
    const deviceId = deviceIds.get(nodeKey) ?? 'unknown'
    for (const [checkId, sentAtMs] of results) {
      const storedAtMs = ranAt.get(`${deviceId}:${checkId}`) ?? 0
      if (storedAtMs < sentAtMs - CLOCKS_DIFFER_MS) {
        lost.push(`check ${checkId} of device ${deviceId}: ${sentAtMs - storedAtMs} ms`)
      }
    }
  }
  expect(lost).toEqual([])
}

async function listDeviceIds(
  folder: string,
  nodeKeys: readonly string[],
): Promise<Map<string, string>> {
  const rows = await query<{ id: string; hash: Buffer }>(
    folder,
    `select id::text, node_key_hash as hash from device where node_key_hash is not null`,
  )
  const idOfHash = new Map(rows.map(({ id, hash }) => [hash.toString('hex'), id]))
  return new Map(
    nodeKeys.flatMap((key) => {
      const id = idOfHash.get(createHash('sha256').update(key).digest('hex'))
      return id === undefined ? [] : [[key, id]]
    }),
  )
}
