import { readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyStandard } from '../support/webhook-verifiers.ts'
import { waitUntilNoneLeft } from '../support/wait-until-none-left.ts'
import { reservePort } from '../support/reserve-ports.ts'
import { createPreparedFolder } from './support/prepared-folder.ts'
import { ServiceProcess } from './support/service-process.ts'

const EVENTS = Number(process.env['HELIOGRAPH_TEST_WEBHOOKS'] ?? 10_000)
const KILLS = 5
/** What a process has claimed for one receiver and not yet recorded: a kill repeats no more. */
const HAND_MAX = 512

interface Arrival {
  readonly eventId: string
  readonly atMs: number
}

describe('webhooks of a service that is killed with its database', () => {
  let folder: string
  let service: ServiceProcess
  let receiver: Server
  let secret = ''
  const arrivals: Arrival[] = []
  const problems: string[] = []

  beforeAll(async () => {
    folder = await createPreparedFolder('heliograph-webhooks-')
    service = new ServiceProcess({
      dataDir: join(folder, 'data'),
      port: await reservePort(),
      environment: { HELIOGRAPH_LOG_LEVEL: 'warn' },
    })
    await service.start()
  })

  afterAll(async () => {
    await service.stop()
    receiver.close()
    receiver.closeAllConnections()
    await rm(folder, { recursive: true, force: true })
  })

  it(`are all delivered, ${EVENTS} of them over ${KILLS} kills, none after it was recorded as done`, async () => {
    const url = await startReceiver()
    const created = (await service.command(
      ...['webhooks', 'create', '--name', 'e2e', '--url', url, '--event', 'issues.new'],
    )) as { id: string; secret: string }
    secret = created.secret
    await queueEvents(created.id)

    const doneAtKill: { readonly eventIds: Set<string>; readonly atMs: number }[] = []
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(400 + Math.random() * 600)
      const isDatabaseKilled = kill % 2 === 0
      // On a busy machine none may be delivered so soon: by the last kill some are.
      if (kill === KILLS - 1) {
        await expect.poll(async () => (await listDelivered()).size).toBeGreaterThan(0)
      }
      doneAtKill.push({ eventIds: await listDelivered(), atMs: performance.now() })
      await service.kill(isDatabaseKilled)
      await service.start()
    }
    await waitUntilNoneLeft(countQueued)

    const expected = await listEventIds()
    expect(expected.length).toBeGreaterThanOrEqual(EVENTS)
    const seen = new Set(arrivals.map(({ eventId }) => eventId))
    expect(expected.filter((eventId) => !seen.has(eventId))).toEqual([])
    for (const { eventIds, atMs } of doneAtKill) {
      const late = arrivals.filter(
        (arrival) => arrival.atMs > atMs && eventIds.has(arrival.eventId),
      )
      expect(late).toEqual([])
    }
    const repeated = arrivals.length - seen.size
    expect(repeated).toBeLessThanOrEqual(KILLS * HAND_MAX)
    expect(doneAtKill.some(({ eventIds }) => eventIds.size > 0)).toBe(true)
    expect(problems).toEqual([])
    expect(await service.command('audit', 'verify')).toMatchObject({ is_whole: true })
    const [shown] = (await service.command('webhooks', 'list')) as [{ queued_count: number }]
    expect(shown).toMatchObject({ enabled: true, queued_count: 0, dead_count: 0 })
  })

  async function startReceiver(): Promise<string> {
    receiver = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('error', () => undefined)
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString()
        try {
          verifyStandard({ headers: request.headers, body }, secret)
        } catch (error) {
          problems.push(String(error))
        }
        arrivals.push({ eventId: String(request.headers['webhook-id']), atMs: performance.now() })
        response.writeHead(204).end()
      })
    })
    const port = await reservePort()
    await new Promise<void>((resolve) => receiver.listen(port, '127.0.0.1', resolve))
    return `http://127.0.0.1:${port}/hooks`
  }

  /** What the service would have queued in as many changes: events with their deliveries. */
  async function queueEvents(webhookId: string): Promise<void> {
    await inDatabase(async (database) => {
      await database.query('begin')
      await database.query(
        `with event as (
           insert into webhook_event (event_id, event_type, occurred_at, body, txn, created_at)
           select id, 'issues.new', now(),
             json_build_object('event', 'issues.new', 'id', id,
               'timestamp', '2026-01-02T03:04:05Z', 'data', json_build_object('n', n))::text,
             id, now()
           from (select n, '01E2E' || lpad(n::text, 21, '0') as id
             from generate_series(1, $1::int) n) as made
           returning event_id, event_type)
         insert into delivery (destination_id, event_id, event_type, body, state, next_attempt_at,
           txn, created_at)
         select w.destination_id, e.event_id, e.event_type, '', 'queued', now(), e.event_id, now()
         from event e cross join webhook w where w.id = $2`,
        [EVENTS, webhookId],
      )
      await database.query(
        `select pg_notify('delivery', destination_id::text) from webhook where id = $1`,
        [webhookId],
      )
      await database.query('commit')
    })
  }

  const idsOf = (state: string) =>
    inDatabase(async (database) => {
      const { rows } = await database.query<{ event_id: string }>(
        'select event_id from delivery where state = $1',
        [state],
      )
      return rows.map(({ event_id: eventId }) => eventId)
    })

  const listDelivered = async () => new Set(await idsOf('delivered'))

  const countQueued = async () => (await idsOf('queued')).length

  const listEventIds = () =>
    inDatabase(async (database) => {
      const { rows } = await database.query<{ event_id: string }>(
        'select distinct event_id from delivery',
      )
      return rows.map(({ event_id: eventId }) => eventId)
    })

  async function inDatabase<Result>(work: (database: Client) => Promise<Result>): Promise<Result> {
    const text = await readFile(join(folder, 'data', 'database.json'), 'utf8')
    const { connection } = JSON.parse(text) as { connection: object }
    const client = new Client(connection)
    client.on('error', () => undefined)
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end().catch(() => undefined)
    }
  }
})
