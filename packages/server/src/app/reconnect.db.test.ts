/* What parts know by notifications is looked up again when listening begins anew: some may have been missed. */
import { afterAll, expect, test, vi } from 'vitest'
import { composeTestApi } from '../../test/support/composed-api.ts'
import { createTestKey } from '../../test/support/api-keys.ts'
import { startLoopbackReceiver } from '../../test/support/loopback-receiver.ts'
import { queueEvents } from '../../test/support/queue-events.ts'
import { SYSTEM_ACTOR } from '../changes/audit/audit-entry.ts'
import { createEnrollmentSecret } from '../posture/enrollment/secrets/create-enrollment-secret.ts'
import { toDestinationId } from '../signals/dispatch/delivery-store.ts'

const WAIT_MS = 15_000
/** So rare that nothing here comes by a sweep. */
const NEVER_MS = 3_600_000

const api = await composeTestApi({
  environment: {
    HELIOGRAPH_LOG_LEVEL: 'silent',
    HELIOGRAPH_ROLES: 'api,agents,worker',
    HELIOGRAPH_CHECK_IN_HOLD_SECONDS: '0',
  },
  engineSettings: { sweepIntervalMs: NEVER_MS },
})
afterAll(() => api.close())
const { services, http, parts } = api
const { db } = services
const key = await createTestKey(services, ['Manage Shared Signals Framework Streams'])
const headers = { authorization: `Bearer ${key}` }

/** Ends the connection by which the process hears of the database, and waits for the next. */
async function listenAnew(): Promise<void> {
  let isBack = false
  const leave = parts.listener.onReconnect(() => {
    isBack = true
  })
  const { rows } = await services.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'heliograph listener'`,
  )
  expect(rows).toHaveLength(1)
  await vi.waitFor(() => expect(isBack).toBe(true), WAIT_MS)
  leave()
}

test('every part that hears notifications looks again when some may have been missed', () => {
  const hearing = parts.list.filter(({ channels }) => channels !== undefined)
  expect(hearing.length).toBeGreaterThan(3)
  expect(hearing.filter(({ onReconnect }) => onReconnect === undefined)).toEqual([])
})

test('a feature that was switched off while nobody listened is off', async () => {
  const list = async () => (await http.inject({ url: '/ssf_streams', headers })).statusCode
  expect(await list()).toBe(200)
  await db.updateTable('organisation').set({ ssf_enabled: false }).execute()
  expect(await list()).toBe(200)
  await listenAnew()
  expect(await list()).toBe(401)
  await db.updateTable('organisation').set({ ssf_enabled: true }).execute()
  await listenAnew()
  expect(await list()).toBe(200)
})

test('a node key that was revoked while nobody listened is refused', async () => {
  const { secret } = await services.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    createEnrollmentSecret(change, services.sealer, { name: 'x', personId: null, expiresAt: null }),
  )
  const post = async (path: string, payload: object) =>
    (await http.inject({ method: 'POST', url: `/osquery/${path}`, payload })).json<{
      readonly node_key?: string
      readonly node_invalid?: boolean
    }>()
  const { node_key: nodeKey } = await post('enroll', {
    enroll_secret: secret,
    host_identifier: 'host',
    platform_type: '9',
    host_details: { system_info: { uuid: '00000000-0000-4000-8000-000000000001' } },
  })
  const isInvalid = async () =>
    (await post('distributed/read', { node_key: nodeKey })).node_invalid === true
  expect(nodeKey).toEqual(expect.any(String))
  expect(await isInvalid()).toBe(false)
  await db.updateTable('device').set({ node_key_hash: null }).execute()
  expect(await isInvalid()).toBe(false)
  await listenAnew()
  expect(await isInvalid()).toBe(true)
})

test('a signing key that was revoked while nobody listened is published no more', async () => {
  const count = () => parts.signing.keyRing.publishedKeys().length
  expect(count()).toBe(1)
  await db.updateTable('signing_key').set({ revoked_at: new Date() }).execute()
  expect(count()).toBe(1)
  await listenAnew()
  await vi.waitFor(() => expect(count()).toBe(0), WAIT_MS)
  await db.updateTable('signing_key').set({ revoked_at: null }).execute()
  await listenAnew()
  await vi.waitFor(() => expect(count()).toBe(1), WAIT_MS)
})

test('an event that was queued while nobody listened is pushed', async () => {
  const receiver = await startLoopbackReceiver()
  const create = async (delivery: object) => {
    const payload = { name: 'stream', delivery }
    const created = await http.inject({ method: 'POST', url: '/ssf_streams', headers, payload })
    const { id } = created.json<{ id: string }>()
    const { destination_id: destinationId } = await db
      .selectFrom('ssf_stream')
      .select('destination_id')
      .where('id', '=', id as never)
      .executeTakeFirstOrThrow()
    return toDestinationId(destinationId)
  }
  const pushed = await create({ method: 'urn:ietf:rfc:8935', endpoint_url: receiver.url })
  const polled = await create({ method: 'urn:ietf:rfc:8936' })
  // Told for another stream, so that nobody hears of it.
  await queueEvents(services, polled, ['device:1'])
  await db.updateTable('delivery').set({ destination_id: pushed }).execute()
  expect(receiver.requests).toEqual([])
  await listenAnew()
  await vi.waitFor(() => expect(receiver.requests).toHaveLength(1), WAIT_MS)
  await receiver.close()
})
