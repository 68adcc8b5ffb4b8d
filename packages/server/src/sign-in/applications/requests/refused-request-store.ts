import { createHash } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'
import type { RefusedField } from './explain-refusal.ts'

/** Requests that were refused alike. */
export interface RefusedRequests {
  readonly endpoint: string
  readonly code: string
  readonly field: RefusedField
  readonly given: string | null
  readonly requestCount: number
  readonly firstAt: Date
  readonly lastAt: Date
}

interface NewRefusedRequest {
  /** Null for a client id that nobody has. */
  readonly applicationId: string | null
  readonly endpoint: string
  readonly code: string
  readonly field: RefusedField
  readonly given: string | null
  readonly at: Date
}

/** So many are kept of an application, and of all client ids that nobody has. */
export const REFUSED_KEPT_MAX = 20

/** Counts a refused request, and drops those beyond what is kept. */
export async function addRefusedRequest(
  db: Kysely<Schema>,
  { applicationId, endpoint, code, field, given, at }: NewRefusedRequest,
): Promise<void> {
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([applicationId, endpoint, code, field, given]))
    .digest()
  await sql`
    insert into sign_in_refused_request (application_id, endpoint, code, field, given, fingerprint,
      request_count, first_at, last_at)
    values (${applicationId}, ${endpoint}, ${code}, ${field}, ${given}, ${fingerprint}, 1, ${at}, ${at})
    on conflict (fingerprint) do update set
      request_count = least(sign_in_refused_request.request_count + 1, 1000000),
      last_at = greatest(sign_in_refused_request.last_at, excluded.last_at)`.execute(db)
  await sql`
    delete from sign_in_refused_request where id in (
      select id from sign_in_refused_request
      where application_id is not distinct from ${applicationId}::bigint
      order by last_at desc, id desc offset ${REFUSED_KEPT_MAX})`.execute(db)
}

/** What was refused of an application, or of client ids that nobody has (null); the latest first. */
export async function listRefusedRequests(
  db: Kysely<Schema>,
  applicationId: string | null,
): Promise<RefusedRequests[]> {
  const { rows } = await sql<RefusedRequests>`
    select endpoint, code, field, given, request_count as "requestCount", first_at as "firstAt",
      last_at as "lastAt"
    from sign_in_refused_request
    where application_id is not distinct from ${applicationId}::bigint
    order by last_at desc, id desc limit ${REFUSED_KEPT_MAX}`.execute(db)
  return rows
}
