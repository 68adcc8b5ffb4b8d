import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import { sql, type Kysely } from 'kysely'
import type { DestinationId } from '../src/schema/branded-ids.ts'
import type { Schema } from '../src/schema/schema.ts'
import { complianceChangeClaims } from './compliance-change-claims.ts'

/** Rows that one statement inserts. */
const CHUNK_ROWS = 50_000

export interface Backlog {
  readonly count: number
  readonly devices: number
  /** Told after every chunk. */
  readonly onFilled: (count: number) => void
}

/**
 * Queues compliance changes of one destination that have been due for an hour, each a millisecond after the one
 * before; the `txn` of each says which it is in due order, from 1. Rows of one device are due in their order.
 */
export async function insertBacklog(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  { count, devices, onFilled }: Backlog,
): Promise<void> {
  const template = JSON.stringify(complianceChangeClaims('{jti}', '{device}', '{txn}'))
  for (let from = 1; from <= count; from += CHUNK_ROWS) {
    const to = Math.min(count, from + CHUNK_ROWS - 1)
    await sql`
      insert into delivery (destination_id, event_id, event_type, subject_key, body, state,
        next_attempt_at, txn, created_at)
      select ${destinationId}::bigint, event_id, ${DEVICE_COMPLIANCE_CHANGE}, 'device:' || device,
        replace(replace(replace(${template}::text, '{jti}', event_id), '{device}', device),
          '{txn}', n::text),
        'queued', now() - interval '1 hour' + n * interval '1 millisecond', n::text, now()
      from (
        select n, gen_random_uuid()::text as event_id, (n % ${devices}::int)::text as device
        from generate_series(${from}::int, ${to}::int) n
      ) event
      order by n`.execute(db)
    onFilled(to)
  }
}

/** What a backlog takes on the disk, with its indexes. */
export async function readDeliveryBytes(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{
    bytes: number
  }>`select pg_total_relation_size('delivery')::float8 as bytes`.execute(db)
  return rows[0]?.bytes ?? 0
}
