/*
 * Records for tests of reading: plain rows with the least that each table takes. Tests of changes make
 * theirs through the use cases (`posture-fixtures.ts`).
 */
import type { Insertable, Kysely } from 'kysely'
import type { Schema } from '../../src/schema/schema.ts'
import { newSecret } from '../../src/platform/ids.ts'

type Database = Kysely<Schema>

const AT = new Date('2026-01-02T03:04:05.678Z')
const TIMES = { created_at: AT, updated_at: AT }

export async function insertPerson(
  db: Database,
  values: Partial<Insertable<Schema['person']>> = {},
): Promise<string> {
  const row: Insertable<Schema['person']> = {
    name: 'Ada Lovelace',
    email: `${newSecret(6)}@example.com`,
    ...TIMES,
    ...values,
  }
  return idOf(await db.insertInto('person').values(row).returning('id').execute())
}

/** Makes a group of people. */
export async function insertPersonGroup(
  db: Database,
  values: Partial<Insertable<Schema['person_group']>> = {},
  memberIds: readonly string[] = [],
): Promise<string> {
  const row = { name: newSecret(6), ...TIMES, ...values }
  const id = idOf(await db.insertInto('person_group').values(row).returning('id').execute())
  const members = memberIds.map((personId) => ({
    person_group_id: id,
    person_id: personId,
    added_at: AT,
  }))
  if (members.length > 0) await db.insertInto('person_group_member').values(members).execute()
  return id
}

/** A machine that asks to enroll as a device, with an enrollment secret of its own. */
export async function insertReenrollmentRequest(db: Database, deviceId: string): Promise<string> {
  const secret = { name: 'a secret', secret_hash: Buffer.from(newSecret(24)), ...TIMES }
  const secretId = idOf(
    await db
      .insertInto('enrollment_secret')
      .values({ ...secret, secret_sealed: Buffer.alloc(1) })
      .returning('id')
      .execute(),
  )
  const row = {
    device_id: deviceId,
    reason: 'live_node_key',
    host_identifier: newSecret(9),
    host_name: 'a machine',
    serial: newSecret(6),
    hardware_uuid: newSecret(9),
    ip_address: '198.51.100.66',
    known_ip_address: '192.0.2.44',
    enrollment_secret_id: secretId,
    requested_at: AT,
    last_requested_at: AT,
    updated_at: AT,
  } as const
  return idOf(await db.insertInto('reenrollment_request').values(row).returning('id').execute())
}

export async function insertDevice(
  db: Database,
  values: Partial<Insertable<Schema['device']>> = {},
): Promise<string> {
  const row: Insertable<Schema['device']> = {
    host_identifier: newSecret(9),
    name: 'a device',
    platform: 'darwin',
    ...TIMES,
    ...values,
  }
  return idOf(await db.insertInto('device').values(row).returning('id').execute())
}

export async function insertCheck(
  db: Database,
  values: Partial<Insertable<Schema['posture_check']>> = {},
): Promise<string> {
  const row: Insertable<Schema['posture_check']> = {
    slug: `check-${newSecret(6)}`,
    name: 'Firewall',
    description: 'The firewall is on.',
    issue_title: 'The firewall is off',
    type: 'osquery',
    is_built_in: true,
    platforms: ['darwin'],
    remediation_strategy: 'report_only',
    ...TIMES,
    ...values,
  }
  return idOf(await db.insertInto('posture_check').values(row).returning('id').execute())
}

/** Gives a check a tag, made for it. */
export async function insertCheckTag(
  db: Database,
  checkId: string,
  values: Insertable<Schema['check_tag']>,
): Promise<string> {
  const id = idOf(await db.insertInto('check_tag').values(values).returning('id').execute())
  await db.insertInto('posture_check_tag').values({ check_id: checkId, tag_id: id }).execute()
  return id
}

export async function insertDeviceGroup(
  db: Database,
  values: Partial<Insertable<Schema['device_group']>> = {},
): Promise<string> {
  const row: Insertable<Schema['device_group']> = { name: newSecret(6), ...TIMES, ...values }
  return idOf(await db.insertInto('device_group').values(row).returning('id').execute())
}

export async function insertIssue(
  db: Database,
  values: Partial<Insertable<Schema['issue']>> & { readonly check_id: string },
): Promise<string> {
  const row: Insertable<Schema['issue']> = {
    title: 'The firewall is off',
    value: JSON.stringify({ KOLIDE_CHECK_STATUS: 'FAIL' }),
    detected_at: AT,
    last_rechecked_at: AT,
    updated_at: AT,
    ...values,
  }
  return idOf(await db.insertInto('issue').values(row).returning('id').execute())
}

export async function insertAuthLogSession(
  db: Database,
  values: Partial<Insertable<Schema['auth_log_session']>> = {},
): Promise<string> {
  const row: Insertable<Schema['auth_log_session']> = {
    started_at: AT,
    person_name: 'Ada Lovelace',
    person_email: 'ada@example.com',
    updated_at: AT,
    ...values,
  }
  return idOf(await db.insertInto('auth_log_session').values(row).returning('id').execute())
}

function idOf(rows: readonly { id: string }[]): string {
  const [row] = rows
  if (row === undefined) throw new Error('nothing was inserted')
  return row.id
}
