import { sql } from 'kysely'
import type { Foundation } from '../../changes/foundation.ts'
import type { DeviceProblem, DeviceTrust } from '../../organisation/admin-sign-in/device-trust.ts'
import { hasBlockingIssue, IS_LEAVING } from '../attempts/attempt-facts-read.ts'

/** How the device must have been known: by itself, or because somebody answered for it. */
const TRUSTED_ASSURANCES = sql`('hardware', 'live', 'approved')`

/**
 * What makes a device trusted enough for the console: a sign-in here granted a session to the person who has the email
 * address of the admin, with a device of this person alone, and none of the three has ended or is blocked now.
 */
export function createDeviceTrust({ clock }: Pick<Foundation, 'clock'>): DeviceTrust {
  return {
    wasRequired: false,
    problem: () => {
      const at = clock.now()
      return sql<DeviceProblem | null>`nullif(coalesce((
        select case
          when g.ended_at is not null or g.expires_at <= ${at} then 'proof_ended'
          when lower(p.email) <> lower(admin_user.email) then 'other_person'
          when p.deprovisioned_at is not null then 'person_switched_off'
          when g.assurance not in ${TRUSTED_ASSURANCES} then 'assurance_too_low'
          when d.id is null or ${IS_LEAVING} or d.registered_at is null
            or d.owner_person_id is distinct from p.id then 'device_gone'
          when d.auth_state = 'Blocked' or (d.auth_state = 'Will Block' and d.will_block_at <= ${at})
            or ${hasBlockingIssue(sql.ref('p.id'), at)} then 'device_blocked'
          else 'none' end
        from sign_in_granted_session g
        join person p on p.id = g.person_id
        left join device d on d.id = g.device_id
        where g.id = session.granted_session_id), 'unbound'), 'none')`
    },
  }
}
