/* A small organisation: one record of everything, and makers of records that a request may use up. */
import { toCheckpointFolder } from '../../src/changes/audit/audit-chain-part.ts'
import { signCheckpoint } from '../../src/changes/audit/checkpoints/sign-checkpoint.ts'
import type { StreamId } from '../../src/schema/branded-ids.ts'
import { SYSTEM_ACTOR } from '../../src/changes/audit/audit-entry.ts'
import type { Change } from '../../src/changes/change.ts'
import { createAdmin, type AdminAccess } from '../../src/organisation/admins/create-admin.ts'
import { applyCheckScope } from '../../src/posture/checks/apply-check-scope.ts'
import { recordCheckResults } from '../../src/posture/checks/record-check-results.ts'
import { newSecret } from '../../src/platform/ids.ts'
import { recordReportingSnapshot } from '../../src/posture/reporting/record-reporting-snapshot.ts'
import { recordLiveAnswers } from '../../src/posture/live-queries/record-live-answers.ts'
import { findPendingKey } from '../../src/signals/signing/signing-key.ts'
import { listSigningKeys } from '../../src/signals/signing/signing-key-store.ts'
import {
  insertAuthLogSession,
  insertCheckTag,
  insertDevice,
  insertDeviceGroup,
  insertPerson,
  insertPersonGroup,
  insertReenrollmentRequest,
} from '../support/factories.ts'
import { createConsoleSession } from '../support/console-session.ts'
import { startLoopbackReceiver } from '../support/loopback-receiver.ts'
import type { ContractService } from './contract-service.ts'
import { createSignInMakers, type SignInMakers } from './sign-in-makers.ts'

type Json = Readonly<Record<string, unknown>>

/** What recipes make their requests of. */
export interface ContractWorld extends SignInMakers {
  readonly ids: Awaited<ReturnType<typeof insertFixtures>>
  /** The address of a receiver that accepts everything. */
  readonly receiverUrl: string
  /** Sends a request with every permission and answers its body; it must succeed. */
  readonly call: (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) => Promise<Json>
  /** Deletes a record; it must succeed. */
  readonly remove: (path: string) => Promise<void>
  /** A name that nothing else has. */
  readonly unique: (name: string) => string
  /** A device with an agent, registered to the person of `ids`; has failed the check of `ids`. */
  readonly newDevice: () => Promise<string>
  /** The same, registered to nobody. */
  readonly newSpareDevice: () => Promise<string>
  /** The open issue of a device, by id. */
  readonly openIssueOf: (deviceId: string) => Promise<string>
  readonly newDeviceGroup: () => Promise<string>
  /** An admin with limited access, who answers for no key. */
  readonly newAdmin: () => Promise<string>
  /** An admin for billing only, who has no way to sign in. */
  readonly newInvitedAdmin: () => Promise<string>
  /** A session of a new admin in the console. */
  readonly newSession: () => Promise<string>
  /** A check that no device has failed. */
  readonly newCheck: () => Promise<string>
  /** A draft that can be published. */
  readonly newDraft: () => Promise<string>
  readonly newCampaign: () => Promise<string>
  readonly newReportingQuery: () => Promise<string>
  /** A push stream to the receiver. */
  readonly newStream: () => Promise<{ readonly id: string; readonly streamId: string }>
  /** A webhook to the receiver. */
  readonly newWebhook: () => Promise<string>
  /** An event that was sent to a new push stream. */
  readonly newDelivery: () => Promise<{ readonly streamId: string; readonly eventId: string }>
  /** An event that waits in a new poll stream. */
  readonly newQueuedDelivery: () => Promise<{
    readonly streamId: string
    readonly eventId: string
  }>
  /** Ends the rotation of the signing key that is under way, if there is one. */
  readonly endRotation: () => Promise<void>
  /** A signing key that is published ahead of its use. */
  readonly newSigningKey: () => Promise<string>
  readonly close: () => Promise<void>
}

const AT = new Date('2026-01-02T03:04:05.678Z')

/** Fills a service with records. */
export async function createContractWorld(service: ContractService): Promise<ContractWorld> {
  const receiver = await startLoopbackReceiver()
  const call: ContractWorld['call'] = async (method, path, body) => {
    const answer = await service.send({
      method,
      url: path,
      key: service.fullKey,
      ...(body === undefined ? {} : { body }),
    })
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.body}`)
    return answer.statusCode === 204 ? {} : answer.json<Json>()
  }
  const ids = await insertFixtures(service, call)
  const receiverUrl = `${receiver.url}/events`
  return {
    ids,
    receiverUrl,
    call,
    unique,
    ...createMakers(call, receiverUrl),
    remove: async (url) => {
      const answer = await service.send({ method: 'DELETE', url, key: service.fullKey })
      if (answer.statusCode >= 300) throw new Error(`DELETE ${url}: ${answer.body}`)
    },
    newAdmin: () => newAdmin(service, 'limited'),
    newInvitedAdmin: () => newAdmin(service, 'billing_only'),
    newSession: async () => (await createConsoleSession(service.services.db)).id,
    newDevice: () => insertFailingDevice(service, ids.person, ids.check),
    newSpareDevice: () => insertFailingDevice(service, null, ids.check),
    openIssueOf: async (deviceId) => {
      const { id } = await service.services.db
        .selectFrom('issue')
        .select('id')
        .where('device_id', '=', deviceId)
        .where('resolved_at', 'is', null)
        .executeTakeFirstOrThrow()
      return id
    },
    ...createKeyMakers(service, call),
    ...createSignInMakers(service),
    newDelivery: async () => {
      const { streamId } = await createMakers(call, receiverUrl).newStream()
      return sendTestEvent(service, call, streamId)
    },
    newQueuedDelivery: async () => {
      const stream = await call('POST', '/ssf_streams', { name: unique('Poll') })
      return sendTestEvent(service, call, String(stream['stream_id']))
    },
    close: () => receiver.close(),
  }
}

function unique(name: string): string {
  return `${name} ${newSecret(6)}`
}

function createMakers(call: ContractWorld['call'], receiverUrl: string) {
  const idOf = (record: Json) => String(record['id'])
  return {
    newDeviceGroup: async () =>
      idOf(await call('POST', '/device_groups', { name: unique('Group') })),
    newCheck: () => insertPublishedCheck(call, 'osquery'),
    newDraft: () => insertCompleteDraft(call, 'osquery'),
    newCampaign: async () =>
      idOf(
        await call('POST', '/live_query_campaigns', {
          name: unique('Query'),
          sql: 'select * from uptime',
          target_macs: true,
        }),
      ),
    newReportingQuery: async () =>
      idOf(
        await call('POST', '/reporting/queries', {
          name: unique('Report'),
          sql: 'select username from users',
        }),
      ),
    newStream: async () => {
      const delivery = { method: 'urn:ietf:rfc:8935', endpoint_url: receiverUrl }
      const stream = await call('POST', '/ssf_streams', { name: unique('Stream'), delivery })
      return { id: idOf(stream), streamId: String(stream['stream_id']) }
    },
    newWebhook: async () => {
      const webhook = { name: unique('Webhook'), url: receiverUrl, events: ['issues.new'] }
      return idOf(await call('POST', '/webhooks', webhook))
    },
  }
}

async function sendTestEvent(
  service: ContractService,
  call: ContractWorld['call'],
  streamId: string,
) {
  await call('POST', `/ssf_streams/${streamId}/test`, { email: 'ada@example.com' })
  const row = await service.services.db
    .selectFrom('delivery')
    .innerJoin('ssf_stream', 'ssf_stream.destination_id', 'delivery.destination_id')
    .select('delivery.event_id')
    .where('ssf_stream.stream_id', '=', streamId as StreamId)
    .executeTakeFirstOrThrow()
  return { streamId, eventId: row.event_id }
}

function createKeyMakers(service: ContractService, call: ContractWorld['call']) {
  const endRotation = async () => {
    const keys = await listSigningKeys(service.services.db)
    const pending = findPendingKey(keys, service.services.clock.now())
    if (pending !== undefined) await call('POST', `/ssf_signing_keys/${pending.kid}/revoke`)
  }
  const newSigningKey = async () => {
    await endRotation()
    return String((await call('POST', '/ssf_signing_keys/rotate', {}))['kid'])
  }
  return { endRotation, newSigningKey }
}

async function insertFixtures(service: ContractService, call: ContractWorld['call']) {
  const { db } = service.services
  const person = await insertPerson(db, { email: 'ada@example.com', usernames: ['ada'] })
  const check = await insertPublishedCheck(call, 'osquery')
  const externalCheck = await insertPublishedCheck(call, 'external')
  await insertCheckTag(db, check, {
    name: 'Audited',
    description: 'Needs attention at once.',
    color: 'rgba(255, 0, 0, 1)',
  })
  const device = await insertFailingDevice(service, person, check)
  const deviceGroup = await insertDeviceGroup(db, { name: 'Laptops' })
  await call('POST', `/device_groups/${deviceGroup}/memberships`, { device_ids: [device] })
  const issue = await firstIdOf(service, `/devices/${device}/open_issues`)
  const exemptionRequest = await call('POST', '/exemption_requests', {
    person_id: person,
    issue_ids: [issue],
    requester_message: 'It is repaired next week.',
  })
  const spare = await insertFailingDevice(service, null, check)
  const registrationRequest = await call('POST', '/registration_requests', {
    person_id: person,
    device_id: spare,
    requester_message: 'My second computer.',
  })
  return {
    person,
    check,
    externalCheck,
    device,
    deviceGroup,
    issue,
    spare,
    exemptionRequest: String(exemptionRequest['id']),
    registrationRequest: String(registrationRequest['id']),
    reenrollmentRequest: await insertReenrollmentRequest(db, spare),
    personGroup: await insertPersonGroup(db, { name: 'Engineering' }, [person]),
    deprovisionedPerson: await insertPerson(db, {
      email: 'gone@example.com',
      deprovisioned_at: AT,
    }),
    authLog: await insertAuthLog(service, person, device, issue),
    auditLog: await insertCheckpoint(service),
    admin: await firstIdOf(service, '/admin_users'),
    draft: String((await call('POST', '/custom_check_drafts', { name: 'Draft' }))['id']),
    campaign: await insertAnsweredCampaign(service, call, device),
    ...(await insertReporting(service, call, device)),
    ...(await insertStreams(call)),
  }
}

/** Signs a checkpoint of the audit log and answers the id of an entry that it covers. */
async function insertCheckpoint(service: ContractService): Promise<string> {
  const { services } = service
  const { baseUrl } = services.config
  const folder = toCheckpointFolder(services.config)
  await services.auditChainer.flush()
  await signCheckpoint({ ...services, baseUrl, folder })
  return firstIdOf(service, '/audit_logs')
}

async function insertCompleteDraft(
  call: ContractWorld['call'],
  type: 'osquery' | 'external',
): Promise<string> {
  const draft = await call('POST', '/custom_check_drafts', {
    name: unique('Check'),
    description: 'Something is as it should be.',
    issue_title: 'Something is not as it should be',
    rationale_template: 'It matters.',
    fix_instructions_template: 'Change it.',
    privacy_info: 'Nothing personal.',
    platforms: ['darwin'],
    target_type: 'devices',
    check_type: type,
    ...(type === 'external' ? {} : { osquery_sql: "select 'PASS' as KOLIDE_CHECK_STATUS" }),
  })
  return String(draft['id'])
}

async function insertPublishedCheck(
  call: ContractWorld['call'],
  type: 'osquery' | 'external',
): Promise<string> {
  const draft = await insertCompleteDraft(call, type)
  const published = await call('POST', `/custom_check_drafts/${draft}/publish`)
  return String(published['custom_check_id'])
}

async function insertFailingDevice(
  { services }: ContractService,
  person: string | null,
  checkId: string,
): Promise<string> {
  const { db, runChange } = services
  const id = await insertDevice(db, {
    owner_person_id: person,
    registered_at: person === null ? null : AT,
    last_authenticated_at: AT,
    node_key_hash: Buffer.from(newSecret(32)).subarray(0, 32),
    serial: newSecret(6),
    hardware_uuid: newSecret(9),
    note: 'A **note**.',
  })
  await change(services, async (open) => {
    const added = { initiatingEntity: 'system', reason: 'Added by a test.' } as const
    await applyCheckScope(open, { deviceIds: [id] }, added)
  })
  const { revision } = await db
    .selectFrom('posture_check')
    .select('revision')
    .where('id', '=', checkId)
    .executeTakeFirstOrThrow()
  await runChange({ actor: SYSTEM_ACTOR }, (open) =>
    recordCheckResults(open, {
      deviceId: id,
      results: [
        {
          checkId,
          revision: Number(revision),
          rows: [{ KOLIDE_CHECK_STATUS: 'FAIL', path: '/etc/hosts' }],
          statusCode: 0,
          message: '',
        },
      ],
    }),
  )
  return id
}

function change(
  { runChange }: ContractService['services'],
  work: (change: Change) => Promise<void>,
): Promise<void> {
  return runChange({ actor: SYSTEM_ACTOR }, work)
}

async function insertAuthLog(
  { services }: ContractService,
  person: string,
  device: string,
  issue: string,
): Promise<string> {
  return insertAuthLogSession(services.db, {
    person_id: person,
    device_id: device,
    result: 'Success',
    initial_status: 'all_good',
    ip_address: '192.0.2.1',
    agent_version: '5.23.0',
    country: 'Norway',
    city: 'Oslo',
    browser_name: 'Firefox',
    browser_user_agent: 'Mozilla/5.0',
    issues_displayed: JSON.stringify([
      { title: 'An issue', blocking_status: 'blocked', id: issue },
    ]),
    events: JSON.stringify([
      {
        timestamp: AT.toISOString(),
        event_type: 'sign_in_attempt',
        event_description: 'Began to sign in.',
      },
    ]),
  })
}

async function insertAnsweredCampaign(
  { services }: ContractService,
  call: ContractWorld['call'],
  device: string,
): Promise<string> {
  const campaign = await call('POST', '/live_query_campaigns', {
    name: 'Uptime',
    sql: 'select * from uptime',
    targeted_device_ids: [Number(device)],
  })
  const id = String(campaign['id'])
  await change(services, async (open) => {
    await recordLiveAnswers(open, { forget: () => undefined }, [
      {
        deviceId: device,
        results: [{ id: `live:${id}:1`, rows: [{ days: '3' }], statusCode: 0, message: '' }],
      },
    ])
  })
  return id
}

async function insertReporting(
  { services }: ContractService,
  call: ContractWorld['call'],
  deviceId: string,
) {
  await change(services, (open) =>
    recordReportingSnapshot(
      open.tx,
      {
        deviceId,
        tableName: 'users',
        unixTime: 1,
        epoch: 0,
        counter: 0,
        rows: [{ uid: '501', username: 'ada', shell: '/bin/zsh' }],
      },
      open.at,
    ),
  )
  const query = await call('POST', '/reporting/queries', {
    name: 'Users',
    sql: 'select username, shell from users',
  })
  return { reportingTable: 'users', reportingQuery: String(query['id']) }
}

async function insertStreams(call: ContractWorld['call']) {
  const stream = await call('POST', '/ssf_streams', { name: 'Poll' })
  await call('POST', `/ssf_streams/${String(stream['id'])}/test`, { email: 'ada@example.com' })
  return { pollStream: String(stream['id']), pollStreamId: String(stream['stream_id']) }
}

async function firstIdOf(service: ContractService, path: string): Promise<string> {
  const answer = await service.send({ method: 'GET', url: path, key: service.fullKey })
  const [record] = answer.json<{ data: { id: string }[] }>().data
  if (record === undefined) throw new Error(`${path} lists nothing`)
  return record.id
}

async function newAdmin({ services }: ContractService, access: AdminAccess): Promise<string> {
  const email = `${newSecret(6)}@example.com`.toLowerCase()
  const names = { firstName: 'Ada', lastName: 'Lovelace' }
  const { id } = await services.runChange({ actor: SYSTEM_ACTOR }, (change) =>
    createAdmin(change, { email, access, ...names }),
  )
  return id
}
