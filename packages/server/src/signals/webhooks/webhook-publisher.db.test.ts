import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database.ts'
import { insertCheckTag } from '../../../test/support/factories.ts'
import { createPosture, FAIL, PASS, type Posture } from '../../../test/support/posture-fixtures.ts'
import { createAdmin } from '../../organisation/admins/create-admin.ts'
import type { DomainEvent } from '../../changes/domain-event.ts'
import { deleteDevice } from '../../posture/devices/delete-device.ts'
import { getDeviceForUpdate } from '../../posture/devices/device-store.ts'
import { createRegistrationRequest } from '../../posture/devices/registration-requests/create-registration-request.ts'
import { setDeviceOwner } from '../../posture/devices/set-device-owner.ts'
import { createEnrollmentSecret } from '../../posture/enrollment/secrets/create-enrollment-secret.ts'
import { createExemptionRequest } from '../../posture/issues/exemptions/create-exemption-request.ts'
import { AGENT_SETTINGS_DEFAULT } from '../../posture/osquery/agent-settings.ts'
import { enrollDevices } from '../../posture/osquery/enroll-devices.ts'
import { parseMasterKeys } from '../../platform/secrets/master-key.ts'
import { createSealer } from '../../platform/secrets/sealed-box.ts'
import { recordStatements } from '../../../test/support/record-statements.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { createChangeRunner } from '../../changes/change.ts'
import { openDatabase, type Database } from '../../platform/db/database.ts'
import { DatabaseNetwork } from '../../platform/db/database-network.ts'
import type { Schema } from '../../schema/schema.ts'
import { publicTargetsOnly } from '../../../test/support/public-targets-only.ts'
import { createWebhook, deleteWebhook } from './change-webhook.ts'
import type { NewWebhook } from './webhook-input.ts'
import { createWebhookPublisher } from './webhook-publisher.ts'
import { SUBSCRIBABLE_EVENTS } from './webhook-event-types.ts'
import { deleteRows } from '../../../test/support/empty-tables.ts'

const rethrow = (error: unknown): never => {
  throw error
}
const BASE = 'https://trust.example.com'
const sealer = createSealer(parseMasterKeys(Buffer.alloc(32, 7).toString('base64'), 'test'))
const dependencies = { sealer, targetPolicy: publicTargetsOnly, webhooksMax: 100 }

let database: TestDatabase
let posture: Posture
/** Connections as the service has them. */
let service: Database<Schema>

beforeAll(async () => {
  database = await createTestDatabase()
  posture = createPosture(database.db)
  service = openDatabase<Schema>(database.connection, {
    network: new DatabaseNetwork(),
    poolMax: 2,
    logError: rethrow,
  })
})
afterAll(async () => {
  await service.close()
  await database.close()
})
beforeEach(async () => {
  posture.clock.advance(1_000)
  await deleteRows(database.db, 'webhook', 'webhook_event', 'delivery', 'delivery_destination')
})

const subscribe = (events: readonly string[], input: Partial<NewWebhook> = {}) =>
  posture.change(async (change) => {
    const url = 'https://receiver.example.com/hooks'
    const { webhook } = await createWebhook(
      change,
      { name: 'w', url, events, ...input },
      dependencies,
    )
    return webhook
  })

const listEvents = () => database.db.selectFrom('webhook_event').selectAll().orderBy('id').execute()

const listDeliveries = () =>
  database.db
    .selectFrom('delivery')
    .innerJoin('webhook', 'webhook.destination_id', 'delivery.destination_id')
    .select(['webhook.id as webhook_id', 'delivery.event_id', 'delivery.txn', 'delivery.state'])
    .orderBy('delivery.id')
    .execute()

/** What the events of a type told, oldest first. */
async function dataOf(type: string): Promise<unknown[]> {
  const events = await listEvents()
  return events
    .filter(({ event_type }) => event_type === type)
    .map(({ body }) => (JSON.parse(body ?? '') as { data: unknown }).data)
}

const tell = (...events: DomainEvent[]) =>
  posture.change(async (change) => events.forEach((event) => change.recordEvent(event)))

const signIn = {
  type: 'auth_logs.success',
  sessionId: '71',
  personId: '8',
  device: { id: '9', name: 'mac-9' },
  browserName: 'Firefox',
  browserVersion: '140.0',
  agentVersion: '5.23.0',
} as const satisfies DomainEvent

describe('other processes', () => {
  it('are told of it after the commit, so that commits do not wait for each other', async () => {
    const webhook = await subscribe(['auth_logs.success'])
    await subscribe(['auth_logs.failure'])
    await subscribe(['auth_logs.success'], { enabled: false })
    const told: string[][] = []
    const sink = {
      tell: (channel: string, payloads: readonly string[]) => told.push([channel, ...payloads]),
    }
    const publish = createWebhookPublisher({ clock: posture.clock, baseUrl: BASE })
    const runChange = createChangeRunner(service.preparedDb, posture.clock, [publish], sink)
    const statements = await recordStatements(() =>
      runChange({ actor: SYSTEM_ACTOR }, async (change) => change.recordEvent(signIn)),
    )
    expect(statements.some(({ text }) => text.includes('insert into delivery'))).toBe(true)
    expect(statements.filter(({ text }) => text.includes('pg_notify'))).toEqual([])
    const { destination_id: destinationId } = await database.db
      .selectFrom('webhook')
      .select('destination_id')
      .where('id', '=', webhook.id)
      .executeTakeFirstOrThrow()
    expect(told).toEqual([['delivery', destinationId]])
  })

  it('are told nothing of a change that rolls back', async () => {
    await subscribe(['auth_logs.success'])
    const sink = { tell: vi.fn() }
    const publish = createWebhookPublisher({ clock: posture.clock, baseUrl: BASE })
    const fail = () => Promise.reject(new Error('no'))
    const runChange = createChangeRunner(service.preparedDb, posture.clock, [publish, fail], sink)
    const changed = runChange({ actor: SYSTEM_ACTOR }, async (change) => change.recordEvent(signIn))
    await expect(changed).rejects.toThrow('no')
    expect(sink.tell).not.toHaveBeenCalled()
  })
})

describe('who is told', () => {
  it('is every enabled webhook that asks for the event, under one id and with the same bytes', async () => {
    const first = await subscribe(['auth_logs.success'])
    const second = await subscribe(['auth_logs.success', 'auth_logs.failure'])
    await subscribe(['auth_logs.failure'])
    await tell(signIn)
    const [event, ...others] = await listEvents()
    expect(others).toEqual([])
    expect(await listDeliveries()).toEqual(
      [first, second].map(({ id }) => ({
        webhook_id: id,
        event_id: event?.event_id,
        txn: event?.txn,
        state: 'queued',
      })),
    )
  })

  it('is nobody when nobody asks: nothing is written', async () => {
    await subscribe(['devices.destroyed'])
    await tell(signIn)
    expect(await listEvents()).toEqual([])
  })

  it('is not a webhook that is off, but what it asks for is kept', async () => {
    await subscribe(['auth_logs.success'], { enabled: false })
    await tell(signIn)
    expect(await listEvents()).toHaveLength(1)
    expect(await listDeliveries()).toEqual([])
  })

  it('is nobody any more once the webhook is deleted', async () => {
    const { id } = await subscribe(['auth_logs.success'])
    await posture.change((change) => deleteWebhook(change, id))
    await tell(signIn)
    expect(await listEvents()).toEqual([])
  })

  it('is a webhook that was created while the change was open', async () => {
    let release = () => undefined as void
    const gate = new Promise<void>((resolve) => (release = resolve))
    const slow = posture.change(async (change) => {
      change.recordEvent(signIn)
      await change.tx.selectFrom('organisation').select('id').execute()
      await gate
    })
    await subscribe(['auth_logs.success'])
    release()
    await slow
    expect(await listDeliveries()).toHaveLength(1)
  })

  it('is nobody when the change does not commit', async () => {
    await subscribe(['auth_logs.success'])
    const failing = posture.change(async (change) => {
      change.recordEvent(signIn)
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await listEvents()).toEqual([])
  })

  it('hears of thousands of events of one change, each once', async () => {
    await subscribe(['auth_logs.success'])
    const events = Array.from({ length: 1_234 }, (_, n) => ({ ...signIn, sessionId: String(n) }))
    await tell(...events)
    const rows = await listEvents()
    expect(rows).toHaveLength(1_234)
    const ids = rows.map(({ event_id }) => event_id)
    expect([...ids].sort()).toEqual(ids)
    expect(rows.map(({ object_id }) => object_id)).toEqual(events.map(({ sessionId }) => sessionId))
    expect(await listDeliveries()).toHaveLength(1_234)
  })
})

describe('what is told', () => {
  it('is event, id, timestamp in whole seconds and data, and nothing else', async () => {
    await subscribe(['auth_logs.success', 'auth_logs.failure'])
    posture.clock.set('2026-03-04T05:06:07.891Z')
    await tell(signIn, { ...signIn, type: 'auth_logs.failure', personId: null, device: null })
    const [success, failure] = await listEvents()
    expect(success?.event_id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/)
    expect(JSON.parse(success?.body ?? '')).toEqual({
      event: 'auth_logs.success',
      id: success?.event_id,
      timestamp: '2026-03-04T05:06:07Z',
      data: {
        auth_log_url: `${BASE}/auth_logs/71`,
        browser_name: 'Firefox',
        browser_version: '140.0',
        device_id: 9,
        device_name: 'mac-9',
        launcher_version: '5.23.0',
        person_id: 8,
      },
    })
    expect(JSON.parse(failure?.body ?? '')).toMatchObject({
      event: 'auth_logs.failure',
      data: { device_id: null, device_name: null, person_id: null },
    })
    expect(success).toMatchObject({ object_type: 'auth_log', object_id: '71' })
  })

  it('of a new admin is who it is', async () => {
    await subscribe(['admin_users.created'])
    const names = { firstName: 'Grace', lastName: 'Hopper' }
    const { id } = await posture.change((change) =>
      createAdmin(change, { email: 'grace@example.com', access: 'limited', ...names }),
    )
    expect(await dataOf('admin_users.created')).toEqual([
      {
        admin_user_id: Number(id),
        first_name: 'Grace',
        last_name: 'Hopper',
        email: 'grace@example.com',
        access: 'limited',
      },
    ])
  })

  it('of devices follows them from their enrollment to their end', async () => {
    await subscribe(SUBSCRIBABLE_EVENTS.filter((event) => event.startsWith('devices.')))
    const deviceId = await enroll('host-1')
    await enroll('host-1')
    for (const email of ['ada@example.com', 'ada@example.com', 'bob@example.com']) {
      await posture.change((change) => setDeviceOwner(change, deviceId, { email }))
    }
    await posture.change((change) => setDeviceOwner(change, deviceId, null))
    await posture.change((change) => setDeviceOwner(change, deviceId, { email: 'ada@example.com' }))
    await posture.change(async (change) =>
      deleteDevice(change, await getDeviceForUpdate(change.tx, deviceId)),
    )
    const events = (await listEvents()).map(({ event_type }) => event_type)
    expect(events).toEqual([
      'devices.created',
      'devices.reenrolled',
      'devices.registered',
      'devices.registered',
      'devices.reassigned',
      'devices.registered',
      'devices.destroyed',
    ])
    const people = await database.db.selectFrom('person').select(['id', 'email']).execute()
    const owner = (email: string) => {
      const id = people.find((person) => person.email === email)?.id ?? ''
      return {
        id: Number(id),
        name: expect.any(String) as string,
        email,
        owner_url: `${BASE}/people/${id}`,
      }
    }
    const device = { device_id: Number(deviceId), device_name: 'laptop', device_status: 'good' }
    const device_url = `${BASE}/devices/${deviceId}`
    expect(await dataOf('devices.created')).toEqual([
      { ...device, device_url, registered_owner: null },
    ])
    expect(await dataOf('devices.registered')).toEqual(
      ['ada@example.com', 'bob@example.com', 'ada@example.com'].map((email) => ({
        ...device,
        device_url,
        registered_owner: owner(email),
      })),
    )
    expect(await dataOf('devices.destroyed')).toEqual([
      { ...device, registered_owner: owner('ada@example.com') },
    ])
  })

  it('of a failing check is the issue, its older name, and each state of the device', async () => {
    await subscribe([
      'issues.new',
      'issues.resolved',
      'failures.new',
      'failures.resolved',
      'device_trust.status_changed',
    ])
    const checkId = await posture.insertCheck({
      remediation_strategy: 'warn_then_block',
      grace_period_days: 7,
    })
    const tag = { name: 'Critical', description: '', color: 'rgba(255, 0, 0, 1)' }
    await insertCheckTag(database.db, checkId, tag)
    const deviceId = await posture.insertDevice()
    await posture.report(deviceId, { [checkId]: FAIL })
    posture.clock.advance(5_000)
    await posture.report(deviceId, { [checkId]: PASS })
    const [issue] = await dataOf('issues.new')
    expect(issue).toEqual({
      issue_id: expect.any(Number) as number,
      title: 'A disk is not encrypted',
      check_id: Number(checkId),
      device_id: Number(deviceId),
      device: { id: Number(deviceId), name: 'mac-1' },
      check: { id: Number(checkId), name: 'Disk encryption', tags: ['Critical'] },
    })
    expect(await dataOf('issues.resolved')).toEqual([issue])
    const { issue_id } = issue as { issue_id: number }
    const older = {
      check_id: Number(checkId),
      failure_id: issue_id,
      title: 'A disk is not encrypted',
      device_id: Number(deviceId),
    }
    expect(await dataOf('failures.new')).toEqual([older])
    expect(await dataOf('failures.resolved')).toEqual([older])
    const statuses = (await dataOf('device_trust.status_changed')) as { device_status: string }[]
    expect(statuses.map(({ device_status }) => device_status)).toEqual(['will_block', 'good'])
    expect(statuses[0]).toEqual({
      device_id: Number(deviceId),
      device_name: 'mac-1',
      device_status: 'will_block',
      device_url: `${BASE}/devices/${deviceId}`,
    })
  })

  it('of requests is who asks for what', async () => {
    await subscribe(['requests.issue_exemption', 'requests.registration'])
    const checkId = await posture.insertCheck()
    const deviceId = await posture.insertDevice()
    await posture.report(deviceId, { [checkId]: FAIL })
    await posture.change((change) => setDeviceOwner(change, deviceId, { email: 'cy@example.com' }))
    const { id: issueId } = await database.db
      .selectFrom('issue')
      .select('id')
      .where('device_id', '=', deviceId)
      .executeTakeFirstOrThrow()
    const { id: personId } = await database.db
      .selectFrom('person')
      .select('id')
      .where('email', '=', 'cy@example.com')
      .executeTakeFirstOrThrow()
    await posture.change((change) =>
      createExemptionRequest(change, {
        person_id: personId,
        issueIds: [issueId],
        message: 'Next week.',
        coversFutureIssues: false,
        expiresAt: null,
      }),
    )
    const spare = await posture.insertDevice({ name: 'spare' })
    await posture.change((change) =>
      createRegistrationRequest(change, { person_id: personId, deviceId: spare, message: 'Mine.' }),
    )
    expect(await dataOf('requests.issue_exemption')).toEqual([
      {
        device_id: Number(deviceId),
        device_name: 'mac-1',
        person_email: 'cy@example.com',
        message: 'Next week.',
        issues: [{ issue_id: Number(issueId), issue_url: `${BASE}/issues/${issueId}` }],
      },
    ])
    expect(await dataOf('requests.registration')).toEqual([
      {
        device: { id: Number(spare), name: 'spare', url: `${BASE}/devices/${spare}` },
        requester: {
          id: Number(personId),
          email: 'cy@example.com',
          url: `${BASE}/people/${personId}`,
        },
        message: 'Mine.',
      },
    ])
  })

  it('of the audit log is every entry once, also of webhooks, and none of telling it', async () => {
    const before = await countAuditEntries()
    await subscribe(['audit_log.recorded'])
    await posture.change(async (change) => {
      change.recordAudit({ action: 'thing.done', target: null, description: 'did a thing' })
    })
    expect(await dataOf('audit_log.recorded')).toEqual([
      // Its own creation is told: the webhook exists when that change commits.
      expect.objectContaining({ description: 'created the webhook w' }),
      {
        actor_name: 'Heliograph',
        actor_type: 'System',
        actor_email: null,
        ip_address: null,
        description: 'did a thing',
      },
    ])
    expect(await countAuditEntries()).toBe(before + 2)
  })

  it('shares its transaction id with the audit entry of its cause', async () => {
    await subscribe(['admin_users.created'])
    await posture.change((change) =>
      createAdmin(change, {
        email: 'txn@example.com',
        firstName: 'T',
        lastName: 'X',
        access: 'full',
      }),
    )
    const [event] = await listEvents()
    const entry = await database.db
      .selectFrom('audit_entry')
      .select('txn')
      .orderBy('sequence', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    expect(event?.txn).toBe(entry.txn)
  })
})

async function countAuditEntries(): Promise<number> {
  const rows = await database.db.selectFrom('audit_entry').select('sequence').execute()
  return rows.length
}

async function enroll(hostIdentifier: string): Promise<string> {
  const enrolled = await posture.change(async (change) => {
    const { secret } = await createEnrollmentSecret(change, sealer, {
      name: 'test',
      personId: null,
      expiresAt: null,
    })
    const request = {
      secret,
      hostIdentifier,
      platformType: 9,
      nodeKey: undefined,
      details: {
        os_version: { platform: 'ubuntu', name: 'Ubuntu', version: '24.04' },
        system_info: { computer_name: 'laptop', hardware_model: 'X1' },
      },
    }
    const attempt = { request, origin: change.origin, auditsRefusals: true }
    return enrollDevices(change, [attempt], AGENT_SETTINGS_DEFAULT.nodeKeyAliveMs)
  })
  const [enrollment] = enrolled
  if (typeof enrollment !== 'object' || enrollment.kind !== 'enrolled') {
    throw new Error('not enrolled')
  }
  return enrollment.deviceId
}
