/*
 * Streams and webhooks that somebody should look at: those that fail, and those that the service or their
 * receiver has stopped. There are at most as many as an installation may have.
 */
import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'

/** A stream or webhook whose receiver does not get its events. */
export interface AilingDestination {
  readonly kind: 'stream' | 'webhook'
  readonly id: string
  readonly name: string
  readonly state: 'failing' | 'stopped'
  /** Why it is stopped. */
  readonly stopReason: string | null
  readonly failingSince: Date | null
  readonly lastSuccessAt: Date | null
  /** What went wrong last, in words. */
  readonly lastFailure: string | null
}

/** The first of them: failing ones before those that are stopped. Webhooks that an admin switched off are well. */
export async function listAilingDestinations(
  db: Kysely<Schema>,
  limit: number,
): Promise<AilingDestination[]> {
  const { rows } = await sql<AilingDestination>`
    select listed.kind, listed.id, listed.name, listed.state, listed."stopReason", d.failing_since as "failingSince",
      d.last_success_at as "lastSuccessAt", d.last_failure as "lastFailure"
    from (
      select 'stream' as kind, id, name, destination_id,
        case when status = 'enabled' then 'failing' else 'stopped' end as state,
        case when status <> 'enabled' then coalesce(status_reason, status) end as "stopReason"
      from ssf_stream
      union all
      select 'webhook', id, name, destination_id,
        case when enabled then 'failing' else 'stopped' end,
        case when not enabled then disabled_reason end
      from webhook where enabled or disabled_reason <> 'admin') as listed
    join delivery_destination d on d.id = listed.destination_id
    where listed.state = 'stopped' or d.consecutive_failures > 0
    order by listed.state, d.failing_since nulls last, listed.kind, listed.id
    limit ${limit}`.execute(db)
  return rows
}
