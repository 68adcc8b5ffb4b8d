import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { AuthState, Compliance } from '../../schema/status-values.ts'
import type { Assurance } from '../../schema/tables/sign-in-tables.ts'

/** A session that was granted, with what its tokens tell. */
export interface TokenSession {
  readonly id: string
  readonly sid: string
  readonly clientId: string
  readonly personId: string
  readonly personName: string
  readonly personEmail: string
  readonly claimsProfile: 'standard' | 'okta'
  readonly isSerialClaimed: boolean
  readonly assurance: Assurance
  readonly deviceId: string | null
  readonly deviceSerial: string | null
  readonly authState: AuthState | null
  readonly compliance: Compliance | null
  readonly willBlockAt: Date | null
  readonly isRegistered: boolean
}

/** A session that has not ended, of a person and an application that are not switched off. */
export async function findTokenSession(
  db: Kysely<Schema>,
  id: string,
  at: Date,
): Promise<TokenSession | undefined> {
  const { rows } = await sql<TokenSession>`
    select s.id, s.sid, a.client_id as "clientId", p.id as "personId", p.name as "personName",
      p.email as "personEmail", a.claims_profile as "claimsProfile",
      a.is_serial_claimed as "isSerialClaimed", s.assurance, d.id as "deviceId",
      d.serial as "deviceSerial", d.auth_state as "authState", d.compliance,
      d.will_block_at as "willBlockAt", d.registered_at is not null as "isRegistered"
    from sign_in_granted_session s
    join sign_in_application a on a.id = s.application_id and a.is_enabled
    join person p on p.id = s.person_id and p.deprovisioned_at is null
    left join device d on d.id = s.device_id
    where s.id = ${id} and s.ended_at is null and s.expires_at > ${at}`.execute(db)
  return rows[0]
}

/** Whether a person can be told of: known, and not switched off. */
export async function findLivePersonId(
  db: Kysely<Schema>,
  id: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('person')
    .select('id')
    .where('id', '=', id)
    .where('deprovisioned_at', 'is', null)
    .executeTakeFirst()
  return row?.id
}
