import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** A user of the operating system of a device. */
export interface OsUser {
  readonly uid: string
  readonly userName: string
}

/** Who signs in on a device, and what was known of it before. */
export interface KnownOsUsers {
  /** As which user the person was first proven since the registration of the device. */
  readonly ofPerson: string | null
  /** Whether somebody else was first proven as this user. */
  readonly isOfAnother: boolean
  /** Whether the device lets anyone sign in, so that its users say nothing. */
  readonly isForAnyone: boolean
}

/** What is known of the users of a device. What was known before its registration to somebody else is not. */
export async function findKnownOsUsers(
  db: Kysely<Schema>,
  deviceId: string,
  personId: string,
  uid: string,
): Promise<KnownOsUsers> {
  const { rows } = await sql<KnownOsUsers>`
    select
      (select u.uid from sign_in_os_user u where u.device_id = d.id and u.person_id = ${personId}
        and u.bound_at >= d.registered_at) as "ofPerson",
      exists (select from sign_in_os_user u where u.device_id = d.id and u.person_id <> ${personId}
        and u.uid = ${uid} and u.bound_at >= d.registered_at) as "isOfAnother",
      d.authentication_mode = 'anyone' as "isForAnyone"
    from device d where d.id = ${deviceId}`.execute(db)
  return rows[0] ?? { ofPerson: null, isOfAnother: false, isForAnyone: false }
}

/** Notes as which user a person was first proven; what was noted since the registration of the device stays. */
export async function insertOsUser(
  db: Kysely<Schema>,
  deviceId: string,
  personId: string,
  { uid, userName }: OsUser,
  at: Date,
): Promise<void> {
  await sql`
    insert into sign_in_os_user as known (device_id, person_id, uid, user_name, bound_at)
    values (${deviceId}, ${personId}, ${uid}, ${userName}, ${at})
    on conflict (device_id, person_id) do update
      set uid = excluded.uid, user_name = excluded.user_name, bound_at = excluded.bound_at
      where known.bound_at < (select registered_at from device where id = known.device_id)`.execute(
    db,
  )
}

/** As which user the requester of a registration was proven on the device; undefined where nobody was. */
export async function findOsUserOfRequest(
  db: Kysely<Schema>,
  requestId: string,
): Promise<OsUser | undefined> {
  const row = await db
    .selectFrom('registration_request')
    .select(['os_uid as uid', 'os_user_name as userName'])
    .where('id', '=', requestId)
    .executeTakeFirst()
  const { uid = null, userName } = row ?? {}
  return uid === null ? undefined : { uid, userName: userName ?? '' }
}
