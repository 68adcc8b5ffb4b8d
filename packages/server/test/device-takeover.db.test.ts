/*
 * Somebody tries to take over the device of somebody else, over HTTP alone: with an API key that holds no
 * permission, what the list of devices tells, and an enrollment secret that should not have left its device.
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { findOrCreatePerson } from '../src/people/people/find-or-create-person.ts'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { createEnrollmentSecret } from '../src/posture/enrollment/secrets/create-enrollment-secret.ts'
import { createTestKey } from './support/api-keys.ts'
import { composeTestApi, type ComposedApi } from './support/composed-api.ts'

const VICTIM_ADDRESS = '192.0.2.10'
const ATTACKER_ADDRESS = '198.51.100.66'
const UUID = '4C4C4544-0042-3510-8051-B7C04F4A3132'

let api: ComposedApi
/** Holds no permission. */
let key: string
let sharedSecret: string
let victimsKey: string

beforeAll(async () => {
  api = await composeTestApi({ environment: { HELIOGRAPH_ROLES: 'api,agents' } })
  key = await createTestKey(api.services, [])
  sharedSecret = await createSecret(null)
  victimsKey =
    (await enroll(await createSecret('victim@example.com'), VICTIM_ADDRESS)).node_key ?? ''
  await useVictimsKey()
})
afterAll(() => api.close())

async function createSecret(owner: string | null): Promise<string> {
  const { runChange, sealer } = api.services
  return runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    const person = owner === null ? null : await findOrCreatePerson(change, { email: owner })
    const input = { name: 'laptops', personId: person?.id ?? null, expiresAt: null }
    return (await createEnrollmentSecret(change, sealer, input)).secret
  })
}

interface EnrollAnswer {
  readonly node_key?: string
  readonly node_invalid?: boolean
  readonly error?: string
}

async function enroll(secret: string, address: string, more: object = {}): Promise<EnrollAnswer> {
  const answer = await api.http.inject({
    method: 'POST',
    url: '/osquery/enroll',
    remoteAddress: address,
    payload: {
      enroll_secret: secret,
      host_identifier: UUID,
      platform_type: '21',
      host_details: {
        system_info: { computer_name: 'victims-mac', uuid: UUID, hardware_serial: 'C02XK1TEJGH5' },
        os_version: { name: 'macOS', version: '15.1', platform: 'darwin' },
      },
      ...more,
    },
  })
  return answer.json()
}

function agent(path: string, address: string, nodeKey: string | undefined) {
  return api.http.inject({
    method: 'POST',
    url: `/osquery/${path}`,
    remoteAddress: address,
    payload: { node_key: nodeKey },
  })
}

/** Until the use is on record: it is written in batches. */
async function useVictimsKey(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect((await agent('config', VICTIM_ADDRESS, victimsKey)).statusCode).toBe(200)
  await vi.waitFor(async () => {
    const { rows } = await sql<{ used: boolean }>`
      select c.last_seen_at > d.enrolled_at as used from device d
      join device_contact c on c.device_id = d.id where d.id = 1`.execute(api.services.db)
    expect(rows[0]?.used).toBe(true)
  })
}

function get(url: string) {
  return api.http.inject({ url, headers: { authorization: `Bearer ${key}` } })
}

const readVictim = () =>
  api.services.db
    .selectFrom('device')
    .innerJoin('person', 'person.id', 'device.owner_person_id')
    .select(['device.id', 'person.email'])
    .where('device.host_identifier', '=', UUID)
    .executeTakeFirst()

it('a key without permissions gets no enrollment secret out of a package', async () => {
  for (const id of ['1', '2', '3']) {
    const answer = await get(`/packages/${id}/download`)
    expect(answer.statusCode).toBe(403)
    expect(answer.json()).toMatchObject({ error: 'Forbidden' })
  }
})

it('whoever knows a device and a secret does not become the device', async () => {
  const [known] = (await get('/devices')).json<{
    data: { serial: string; hardware_uuid: string }[]
  }>().data
  expect(known).toMatchObject({ hardware_uuid: UUID, serial: 'C02XK1TEJGH5' })
  const answer = await enroll(sharedSecret, ATTACKER_ADDRESS)
  expect(answer.node_key).toBeUndefined()
  expect(answer.node_invalid).toBeUndefined()
  expect(answer.error).toEqual(expect.any(String))
  expect((await agent('config', VICTIM_ADDRESS, victimsKey)).statusCode).toBe(200)
})

it('leaving out the hardware does not help', async () => {
  const answer = await enroll(sharedSecret, ATTACKER_ADDRESS, { host_details: {} })
  expect(answer.node_key).toBeUndefined()
  expect((await agent('config', VICTIM_ADDRESS, victimsKey)).statusCode).toBe(200)
})

it('another name for the same hardware does not help', async () => {
  const answer = await enroll(sharedSecret, ATTACKER_ADDRESS, { host_identifier: 'another' })
  expect(answer.node_key).toBeUndefined()
})

it('a personal secret does not move the owner', async () => {
  const answer = await enroll(await createSecret('mallory@example.com'), ATTACKER_ADDRESS)
  expect(answer.node_key).toBeUndefined()
  expect(await readVictim()).toEqual({ id: '1', email: 'victim@example.com' })
})

it('any number of attempts does not keep the device itself from enrolling', async () => {
  for (let attempt = 0; attempt < 15; attempt += 1) await enroll(sharedSecret, ATTACKER_ADDRESS)
  const own = await enroll(await createSecret('victim@example.com'), VICTIM_ADDRESS)
  expect(own.node_key).toEqual(expect.any(String))
  victimsKey = own.node_key ?? ''
  await useVictimsKey()
})

it('admins see who asked, from where, and as which device', async () => {
  const { data } = (await get('/reenrollment_requests')).json<{ data: unknown[] }>()
  expect(data).toContainEqual(
    expect.objectContaining({
      status: 'pending',
      reason: 'live_node_key',
      device_information: expect.objectContaining({ identifier: '1' }) as unknown,
      ip_address: ATTACKER_ADDRESS,
      known_ip_address: VICTIM_ADDRESS,
    }),
  )
  const audit = await api.services.db
    .selectFrom('audit_entry')
    .select(['action', 'before', 'after'])
    .where('action', '=', 'device.reenrollment_requested')
    .execute()
  expect(audit).toContainEqual(
    expect.objectContaining({
      before: expect.objectContaining({ ip_address: VICTIM_ADDRESS }) as unknown,
      after: expect.objectContaining({ ip_address: ATTACKER_ADDRESS }) as unknown,
    }),
  )
})
