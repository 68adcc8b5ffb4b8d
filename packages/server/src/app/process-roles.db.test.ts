import type { StreamRowId } from '../schema/branded-ids.ts'
import { randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { composeProcess, composeTestApi } from '../../test/support/composed-api.ts'
import { createTestKey } from '../../test/support/api-keys.ts'
import { createTestDatabase } from '../../test/support/database.ts'
import { queueEvents } from '../../test/support/queue-events.ts'
import { toUrl } from '../../test/support/to-url.ts'
import { CleanupStack } from '../platform/cleanup-stack.ts'
import { DUE_JOBS, PERIODIC_JOBS } from '../schema/jobs.ts'
import { DELIVERY_CHANNEL } from '../signals/dispatch/delivery-store.ts'
import { SIGNING_KEY_CHANNEL } from '../signals/signing/signing-keys.ts'
import { loadConfig } from './config/load-config.ts'
import { openFoundation, type ServiceFoundation } from './foundation.ts'
import { SILENT_LOGGER } from '../platform/silent-logger.ts'
import { selectByRole } from './parts.ts'

const WAIT_MS = 15_000

const database = await createTestDatabase()
afterAll(() => database.close())

let cleanup = new CleanupStack()
afterEach(async () => {
  const started = cleanup
  cleanup = new CleanupStack()
  await started.run()
})

/** One entry for each thread that this process begins. */
function watchThreads(): string[] {
  const threads: string[] = []
  const onThread = () => void threads.push('thread')
  subscribe('worker_threads', onThread)
  cleanup.add(async () => unsubscribe('worker_threads', onThread))
  return threads
}

/** Starts a process with these roles, but no jobs; tells what it began. */
async function startProcess(roles: string) {
  const foundation = await openFoundation(
    loadConfig({
      DATABASE_URL: toUrl(database.connection),
      HELIOGRAPH_MASTER_KEY: masterKey,
      HELIOGRAPH_LOG_LEVEL: 'silent',
      HELIOGRAPH_ROLES: roles,
    }),
    { purpose: 'service', log: SILENT_LOGGER },
  )
  cleanup.add(() => foundation.close())
  const threads = watchThreads()
  const { parts, supervisor } = await composeProcess(foundation)
  const subscriptions = vi.spyOn(parts.listener, 'subscribe')
  expect({ threads, heard: subscriptions.mock.calls }).toEqual({ threads: [], heard: [] })
  await supervisor.start()
  cleanup.add(() => supervisor.stop())
  const { config } = foundation
  return {
    parts,
    threads,
    channels: subscriptions.mock.calls.map(([channel]) => channel),
    jobs: selectByRole(parts.jobs, config.roles).map(({ name }) => name),
  }
}

const masterKey = randomBytes(32).toString('base64')

async function countDeliveryConnections(): Promise<number> {
  const { rows } = await database.pool.query<{ count: string }>(
    `select count(*) from pg_stat_activity
     where datname = current_database() and application_name = 'heliograph delivery'`,
  )
  return Number(rows[0]?.count)
}

test('a process for agents alone starts no signing threads, hears no deliveries and runs no jobs of workers', async () => {
  const { threads, channels, jobs } = await startProcess('agents')
  expect(threads).toEqual([])
  expect(channels).not.toContain(DELIVERY_CHANNEL)
  expect(channels).not.toContain(SIGNING_KEY_CHANNEL)
  expect(jobs).toEqual(['master key', 'audit checkpoint files'])
  expect(await countDeliveryConnections()).toBe(0)
})

test('a worker signs, hears what is queued, delivers, and runs the jobs', async () => {
  const { parts, threads, channels, jobs } = await startProcess('worker')
  expect(threads).toEqual([])
  const { keyRing } = parts.signing
  await keyRing.sign(keyRing.activeKid(), ['{}'])
  expect(threads).toEqual(['thread'])
  expect(channels).toEqual(expect.arrayContaining([DELIVERY_CHANNEL, SIGNING_KEY_CHANNEL]))
  expect(jobs).toEqual(
    expect.arrayContaining(['device statuses', 'retention', 'signing key rotation']),
  )
  expect(await countDeliveryConnections()).toBeGreaterThan(0)
})

test('every job of the registry is the work of a part, so that the list of jobs is whole', async () => {
  const { parts, close } = await composeTestApi({ environment: { HELIOGRAPH_LOG_LEVEL: 'silent' } })
  cleanup.add(close)
  // The server of HTTP, which has no part in a test, renews its certificate.
  const known = [...Object.keys(PERIODIC_JOBS), ...DUE_JOBS].filter(
    (name) => name !== 'certificate',
  )
  expect(parts.jobs.map(({ name }) => name).sort()).toEqual(known.sort())
})

test('a process for the API alone delivers nothing', async () => {
  const { jobs } = await startProcess('api')
  expect(jobs).toEqual([
    'master key',
    'audit checkpoint files',
    'leased ports',
    'sign-in keys',
    'key usage',
    'signing keys',
    'signing key proofs',
    'waiting polls',
  ])
  expect(await countDeliveryConnections()).toBe(0)
})

test('a process for the API stays ready and answers while its listener connects anew', async () => {
  const { services, http, parts, close } = await composeTestApi({
    environment: { HELIOGRAPH_LOG_LEVEL: 'silent' },
  })
  cleanup.add(close)
  const headers = { authorization: `Bearer ${await createTestKey(services, [])}` }
  const connecting = vi.spyOn(services.network, 'settings').mockImplementation(() => {
    throw new Error('not yet')
  })
  cleanup.add(async () => connecting.mockRestore())
  await endListening(services)
  await vi.waitFor(() => expect(parts.listener.disconnectedForMs()).toBeGreaterThan(0))
  // A busy machine may need longer for a look than is waited for it.
  await vi.waitFor(async () => {
    const ready = await http.inject({ url: '/readyz' })
    expect([ready.statusCode, ready.json()]).toEqual([
      200,
      {
        status: 'ok',
        checks: {
          database: 'ok',
          database_writes: 'ok',
          listener: 'ok',
          master_key: 'ok',
          signing_keys: 'ok',
        },
      },
    ])
  })
  expect((await http.inject({ url: '/devices', headers })).statusCode).toBe(200)
  expect(parts.listener.disconnectedForMs()).toBeGreaterThan(0)
  connecting.mockRestore()
  await vi.waitFor(() => expect(parts.listener.disconnectedForMs()).toBe(0))
})

/** Ends the connection by which a process hears of the database; it makes a new one. */
async function endListening({ pool }: Pick<ServiceFoundation, 'pool'>): Promise<void> {
  const { rows } = await pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'heliograph listener'`,
  )
  expect(rows).toHaveLength(1)
}

test('a poll that waits is answered when its event came while nobody listened', async () => {
  const { services, http, parts, close } = await composeTestApi({
    environment: { HELIOGRAPH_LOG_LEVEL: 'silent' },
  })
  cleanup.add(close)
  const key = await createTestKey(services, ['Manage Shared Signals Framework Streams'])
  const headers = { authorization: `Bearer ${key}` }
  const [polled, other] = [await createPollStream(), await createPollStream()]
  async function createPollStream() {
    const payload = { name: 'poll' }
    const created = await http.inject({ method: 'POST', url: '/ssf_streams', headers, payload })
    return services.db
      .selectFrom('ssf_stream')
      .select(['id', 'destination_id'])
      .where('id', '=', created.json<{ id: StreamRowId }>().id)
      .executeTakeFirstOrThrow()
  }
  const pending = http.inject({
    method: 'POST',
    url: `/ssf_streams/${polled.id}/events`,
    headers,
    payload: { returnImmediately: false },
  })
  await vi.waitFor(() => expect(parts.streams.context.waiters.count()).toBe(1), WAIT_MS)
  // Told for another stream, so that nobody hears of it.
  await queueEvents(services, other.destination_id, ['device:1'])
  await services.db.updateTable('delivery').set({ destination_id: polled.destination_id }).execute()
  await endListening(services)
  const before = performance.now()
  const { sets } = (await pending).json<{ sets: object }>()
  expect(Object.keys(sets)).toHaveLength(1)
  // Far below the 25 s after which the poll would have looked again by itself.
  expect(performance.now() - before).toBeLessThan(WAIT_MS)
})
