import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { hasBlockingIssue, IS_LEAVING, isDeviceAllowed } from '../attempts/attempt-facts-read.ts'
import type { TokenSession } from '../provider/device-claims-read.ts'

/** A session at a site. */
export interface SiteSession extends TokenSession {
  readonly deviceName: string | null
}

/** How strongly a device may be known, the strongest last. */
const STRENGTHS = sql`array['key', 'approved', 'live', 'hardware']`

/**
 * The session that a cookie opens at a host now, in one statement: neither it nor its application nor its person has
 * ended, its device is still one that the person may use and known as strongly as the application asks now, and nothing
 * blocks either. Whom the break-glass group let in has no device that must be in order.
 */
export async function findSiteSession(
  db: Kysely<Schema>,
  cookieHash: Buffer,
  { host, at }: { readonly host: string; readonly at: Date },
): Promise<SiteSession | undefined> {
  const personId = sql.ref('p.id')
  const { rows } = await sql<SiteSession>`
    select s.id, s.sid, a.client_id as "clientId", p.id as "personId", p.name as "personName",
      p.email as "personEmail", a.claims_profile as "claimsProfile",
      a.is_serial_claimed as "isSerialClaimed", s.assurance, d.id as "deviceId",
      d.name as "deviceName", d.serial as "deviceSerial", d.auth_state as "authState",
      d.compliance, d.will_block_at as "willBlockAt", d.registered_at is not null as "isRegistered"
    from sign_in_granted_session s
    join sign_in_application a on a.id = s.application_id and a.is_enabled
      and a.kind = 'forward_auth' and ${host} = any(a.hosts)
    join person p on p.id = s.person_id and p.deprovisioned_at is null
    left join device d on d.id = s.device_id
    where s.cookie_hash = ${cookieHash} and s.ended_at is null and s.expires_at > ${at}
      and (s.assurance = 'none' or (d.auth_state <> 'Blocked'
        and (d.auth_state <> 'Will Block' or d.will_block_at > ${at})
        and array_position(${STRENGTHS}, s.assurance) >= array_position(${STRENGTHS}, a.minimum_assurance)
        and not ${IS_LEAVING} and ${isDeviceAllowed(personId)}
        and not ${hasBlockingIssue(personId, at)}))`.execute(db)
  return rows[0]
}

/**
 * Gives a session that was granted the cookie that opens it at a host: once. Answers when the session ends; undefined
 * where it has one, has ended, or is for another host.
 */
export async function updateSiteSessionCookie(
  db: Kysely<Schema>,
  { id, cookieHash }: { readonly id: string; readonly cookieHash: Buffer },
  { host, at }: { readonly host: string; readonly at: Date },
): Promise<Date | undefined> {
  const { rows } = await sql<{ expiresAt: Date }>`
    update sign_in_granted_session s set cookie_hash = ${cookieHash}
    from sign_in_application a
    where s.id = ${id} and s.cookie_hash is null and s.ended_at is null and s.expires_at > ${at}
      and a.id = s.application_id and a.is_enabled and a.kind = 'forward_auth'
      and ${host} = any(a.hosts)
    returning s.expires_at as "expiresAt"`.execute(db)
  return rows[0]?.expiresAt
}
