import { sql, type Selectable } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/**
 * Every attempt of every delivery, in the form of a row of `delivery_attempt`: those that are one, and those that
 * were accepted and stay in the row of their delivery. Ids are in the order in which they were recorded. A condition
 * on `delivery_id` is answered by indexes.
 */
export const EVERY_ATTEMPT = sql<Selectable<Schema['delivery_attempt']>>`(
  select id, delivery_id, number, started_at, timings, outcome, status_code, error_code, error,
    request_headers, response_headers, response_body, remote_address, next_attempt_at
  from delivery_attempt
  union all
  select a.id, d.id, a.number, a.started_at, a.timings, 'accepted', a.status_code, null, null,
    null, null, a.response_body, a.remote_address, null
  from delivery d
  cross join lateral jsonb_populate_record(null::delivery_attempt, d.accepted_attempt) a
  where d.accepted_attempt is not null)`
