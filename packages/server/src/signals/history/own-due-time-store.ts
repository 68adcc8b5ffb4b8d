import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import { sql, type SqlBool } from 'kysely'
import { isUnfinished } from '../dispatch/delivery-range-store.ts'

/** Whether nobody can have seen a row of `delivery`: it was not sent, signed or claimed. */
export const IS_UNSEEN = sql<SqlBool>`(delivery.attempt_count = 0 and delivery.token is null
      and delivery.detached_token is null and delivery.claimed_by is null)`

/**
 * When a row of `delivery` may go out that waits for nothing else: at once, but for the news that a device is compliant
 * again, which a stream may hold back. Held back is only what a relapse would still withdraw, and what nothing waits
 * behind: bad news is never delayed.
 */
export const OWN_DUE_TIME = sql<Date>`case when ${IS_UNSEEN} and delivery.event_type = ${sql.lit(DEVICE_COMPLIANCE_CHANGE)}
      and delivery.body::jsonb #>> array['events', ${sql.lit(DEVICE_COMPLIANCE_CHANGE)}, 'current_status'] = 'compliant'
      and not exists (
        select from delivery later
        where later.destination_id = delivery.destination_id and later.subject_key = delivery.subject_key
          and ${isUnfinished('later')} and later.id > delivery.id)
    then greatest(now(), delivery.created_at + (
      select max(damping_seconds) from ssf_stream where ssf_stream.destination_id = delivery.destination_id
    ) * interval '1 second')
    else now() end`
