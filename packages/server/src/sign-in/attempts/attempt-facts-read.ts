import { sql, type Kysely, type RawBuilder, type SqlBool, type Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { AuthState } from '../../schema/status-values.ts'

/** A person who signs in and has not been switched off. */
export interface AttemptPerson {
  readonly id: string
  readonly name: string
  readonly email: string
}

/** The person, unless somebody has switched the account off. */
export async function findAttemptPerson(
  db: Kysely<Schema>,
  id: string,
): Promise<AttemptPerson | undefined> {
  return selectPerson(db, id).executeTakeFirst()
}

/** The person, whom nobody switches off until the transaction ends. */
export async function findPersonForGrant(
  tx: Transaction<Schema>,
  id: string,
): Promise<AttemptPerson | undefined> {
  return selectPerson(tx, id).forShare().executeTakeFirst()
}

function selectPerson(db: Kysely<Schema>, id: string) {
  return db
    .selectFrom('person')
    .select(['id', 'name', 'email'])
    .where('id', '=', id)
    .where('deprovisioned_at', 'is', null)
}

/**
 * How long a session lasts that an application is granted, which nobody switches off until the transaction ends;
 * undefined when it is switched off.
 */
export async function findSecondsForGrant(
  tx: Transaction<Schema>,
  applicationId: string,
): Promise<number | undefined> {
  const row = await tx
    .selectFrom('sign_in_application')
    .select('session_seconds as sessionSeconds')
    .where('id', '=', applicationId)
    .where('is_enabled', '=', true)
    .forShare()
    .executeTakeFirst()
  return row?.sessionSeconds
}

/** What decides whether a person may sign in with a device. */
export interface DeviceOfPerson {
  readonly id: string
  readonly name: string
  readonly isRegistered: boolean
  readonly isOwn: boolean
  /** Since when a registration of the person is over that was the last one of the device to end. */
  readonly ownUntil: Date | null
  /** By the owner, the authentication mode and its groups. */
  readonly isAllowed: boolean
  readonly authState: AuthState
  readonly lastSeenAt: Date | null
  /** Whether it is to be deleted, or enrolled no more. */
  readonly isLeaving: boolean
}

/** Of the device `d`: whether it is to be deleted, or enrolled no more. */
export const IS_LEAVING: RawBuilder<SqlBool> = sql`(d.deletion_requested_at is not null
  or d.agent_disabled_at is not null or d.node_key_hash is null)`

/** Of the device `d`: whether a person may sign in with it, by the owner, the authentication mode and its groups. */
export function isDeviceAllowed(personId: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql`(d.registered_at is not null and (d.owner_person_id = ${personId}
    or d.authentication_mode = 'anyone'
    or (d.authentication_mode = 'only_registered_owner_or_group_members' and exists (
      select from device_authentication_group g join person_group_member m using (person_group_id)
      where g.device_id = d.id and m.person_id = ${personId}))))`
}

/** Whether an open issue of a person blocks every device that the person signs in with. */
export function hasBlockingIssue(personId: RawBuilder<unknown>, at: Date): RawBuilder<SqlBool> {
  return sql`exists (
    select from issue i join posture_check c on c.id = i.check_id
    where i.person_id = ${personId} and i.resolved_at is null and c.paused_at is null
      and i.blocks_device_at <= ${at}
      and (i.exempted_at is null or i.exemption_expires_at <= ${at}))`
}

export async function findDeviceOfPerson(
  db: Kysely<Schema>,
  deviceId: string,
  personId: string,
): Promise<DeviceOfPerson | undefined> {
  const { rows } = await sql<DeviceOfPerson>`
    select d.id, d.name, d.registered_at is not null as "isRegistered",
      (d.registered_at is not null and d.owner_person_id is not distinct from ${personId}) as "isOwn",
      case when d.former_owner_person_id = ${personId} then d.registration_ended_at end as "ownUntil", d.auth_state as "authState",
      c.last_seen_at as "lastSeenAt",
      ${IS_LEAVING} as "isLeaving", ${isDeviceAllowed(sql`${personId}`)} as "isAllowed"
    from device d left join device_contact c on c.device_id = d.id
    where d.id = ${deviceId}`.execute(db)
  return rows[0]
}

/** Whether a person is blocked on every device. */
export async function isPersonBlocked(
  db: Kysely<Schema>,
  personId: string,
  at: Date,
): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select ${hasBlockingIssue(sql`${personId}`, at)} as found`.execute(db)
  return rows[0]?.found ?? false
}

/** What an application is called, for the record of a sign-in. */
export async function findApplicationName(
  db: Kysely<Schema>,
  applicationId: string,
): Promise<string | null> {
  const row = await db
    .selectFrom('sign_in_application')
    .select('name')
    .where('id', '=', applicationId)
    .executeTakeFirst()
  return row?.name ?? null
}

/** How strongly an application wants devices to be known. For the pages of the person any way is enough. */
export async function findMinimumAssurance(
  db: Kysely<Schema>,
  applicationId: string | null,
): Promise<'live' | 'hardware' | 'approved' | 'key'> {
  if (applicationId === null) return 'key'
  const row = await db
    .selectFrom('sign_in_application')
    .select('minimum_assurance as minimumAssurance')
    .where('id', '=', applicationId)
    .executeTakeFirst()
  return row?.minimumAssurance ?? 'hardware'
}
