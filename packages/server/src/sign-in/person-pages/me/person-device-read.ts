import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'
import type { AuthState } from '../../../schema/status-values.ts'
import type { Platform } from '../../../schema/tables/device-tables.ts'

/** A device as the person sees it who it is registered to. */
export interface PersonDevice {
  readonly id: string
  readonly name: string
  readonly platform: Platform
  readonly operatingSystem: string
  readonly hardwareModel: string
  readonly serial: string | null
  readonly registeredAt: Date
  readonly seenAt: Date | null
  readonly authState: AuthState
  readonly willBlockAt: Date | null
  readonly openIssueCount: number
}

/** The devices that are registered to a person, by name. */
export async function listPersonDevices(
  db: Kysely<Schema>,
  personId: string,
): Promise<PersonDevice[]> {
  const { rows } = await sql<PersonDevice>`
    select d.id, d.name, d.platform, d.operating_system as "operatingSystem",
      d.hardware_model as "hardwareModel", d.serial, d.registered_at as "registeredAt",
      c.last_seen_at as "seenAt", d.auth_state as "authState", d.will_block_at as "willBlockAt",
      (select count(*)::int from issue i join posture_check k on k.id = i.check_id
        where i.device_id = d.id and i.resolved_at is null and i.exempted_at is null
          and k.paused_at is null and k.remediation_strategy <> 'report_only') as "openIssueCount"
    from device d left join device_contact c on c.device_id = d.id
    where d.owner_person_id = ${personId} and d.registered_at is not null
      and d.deletion_requested_at is null
    order by d.name, d.id
    limit 200`.execute(db)
  return rows
}
