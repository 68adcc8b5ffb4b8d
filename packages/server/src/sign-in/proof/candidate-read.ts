import { sql, type Kysely } from 'kysely'
import { DAY_MS } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import type { ProofPlatform } from './browser-programs.ts'

/** A device that may be the one at which a person sits. */
export interface Candidate {
  readonly id: string
  readonly platform: ProofPlatform
  /** Whether the person is its owner. */
  readonly isOwn: boolean
}

/** How many devices one sign-in asks at most. */
export const CANDIDATES_MAX = 40

/** For how long the address counts from which a device was last in contact. */
const CONTACT_MS = DAY_MS

/** Whose devices are looked for. */
export interface WantedCandidates {
  readonly personId: string
  /** Where the browser is. */
  readonly ipAddress: string | null
  /** The device to which the key of the browser is bound. */
  readonly deviceId: string | null
  /** When. */
  readonly at: Date
}

/**
 * The devices that may be the one, the likeliest first: the one of the key of the browser, those registered to the
 * person, those shared with the person, and those to be registered or open to anyone that were last in contact from the
 * address of the browser.
 */
export async function listCandidates(
  db: Kysely<Schema>,
  { personId, ipAddress, deviceId, at }: WantedCandidates,
): Promise<Candidate[]> {
  // Each branch has an index; together with `or` they would read every device.
  const { rows } = await sql<Candidate>`
    with likely as (
      select id from device where owner_person_id = ${personId}
      union
      select g.device_id from device_authentication_group g join person_group_member m using (person_group_id)
        where m.person_id = ${personId}
      union
      select device_id from device_contact where ip_address = ${ipAddress}
        and last_seen_at > ${new Date(at.getTime() - CONTACT_MS)}
      union
      select ${deviceId}::bigint where ${deviceId}::bigint is not null)
    select d.id, d.platform, d.owner_person_id is not distinct from ${personId} as "isOwn" from likely join device d using (id)
      left join device_contact c on c.device_id = d.id
    where d.platform in ('darwin', 'windows', 'linux') and d.node_key_hash is not null
      and d.agent_disabled_at is null and d.deletion_requested_at is null
      and (d.registered_at is null or d.owner_person_id = ${personId}
        or d.authentication_mode <> 'only_registered_owner')
    order by d.id is not distinct from ${deviceId} desc, "isOwn" desc, c.last_seen_at desc nulls last, d.id
    limit ${CANDIDATES_MAX}`.execute(db)
  return rows
}
