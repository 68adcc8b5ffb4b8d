import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import { sql } from 'kysely'

/**
 * When a row of `delivery` may go out that waits for nothing else: at once, but for the news that a device is compliant
 * again, which a stream may hold back.
 */
export const OWN_DUE_TIME = sql<Date>`case when delivery.event_type = ${sql.lit(DEVICE_COMPLIANCE_CHANGE)}
      and delivery.body::jsonb #>> array['events', ${sql.lit(DEVICE_COMPLIANCE_CHANGE)}, 'current_status'] = 'compliant'
    then greatest(now(), delivery.created_at + (
      select max(damping_seconds) from ssf_stream where ssf_stream.destination_id = delivery.destination_id
    ) * interval '1 second')
    else now() end`
