import { sql } from 'kysely'
import { asOwner, type OwnedDatabase } from './owner-database.ts'
import type { Kysely } from 'kysely'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import type { DestinationId } from '../src/schema/branded-ids.ts'
import type { Schema } from '../src/schema/schema.ts'
import { createWebhook } from '../src/signals/webhooks/change-webhook.ts'
import type { SenderServices } from './sender-services.ts'

/** More than a benchmark makes. */
const WEBHOOKS_MAX = 1_000

/** Creates an enabled webhook with a secret of its own, and answers the id of its destination. */
export async function insertBenchWebhook(
  { runChange, sealer, targetPolicy }: SenderServices,
  url: string,
): Promise<DestinationId> {
  const dependencies = { sealer, targetPolicy, webhooksMax: WEBHOOKS_MAX }
  return runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    const input = { name: 'Benchmark', url, events: ['issues.new', 'devices.created'] } as const
    const { webhook } = await createWebhook(change, input, dependencies)
    return webhook.destinationId
  })
}

/**
 * Queues `count` deliveries, spread evenly over all webhooks, all due at once: what the service would
 * have queued in as many changes.
 */
export async function insertQueuedWebhooks(
  db: Kysely<Schema>,
  count: number,
): Promise<DestinationId[]> {
  await sql`
    with target as (
      select destination_id, row_number() over (order by id) - 1 as place, count(*) over () as total
      from webhook
    ),
    event as (
      insert into webhook_event (event_id, event_type, object_type, object_id, occurred_at, body, txn,
        created_at)
      select id, 'issues.new', 'issue', n::text, now(),
        json_build_object('event', 'issues.new', 'id', id, 'timestamp', '2026-01-02T03:04:05Z',
          'data', json_build_object('issue_id', n, 'title', 'The disk is not encrypted',
            'check_id', 17, 'device_id', n, 'device', json_build_object('id', n, 'name', 'mac-' || n),
            'check', json_build_object('id', 17, 'name', 'Disk encryption',
              'tags', array['Critical'])))::text,
        id, now()
      from (select n, '01BENCH' || lpad(n::text, 19, '0') as id
        from generate_series(1, ${count}::int) n) as made
      returning event_id, event_type, object_id::bigint as n
    )
    insert into delivery (destination_id, event_id, event_type, body, state, next_attempt_at, txn,
      created_at)
    select t.destination_id, e.event_id, e.event_type, '', 'queued', now(), e.event_id, now()
    from event e join target t on t.place = e.n % t.total
    order by e.n`.execute(db)
  await sql`analyze delivery`.execute(db)
  const webhooks = await db.selectFrom('webhook').select('destination_id').execute()
  return webhooks.map(({ destination_id }) => destination_id)
}

/** Removes all webhooks, their events and deliveries. */
export async function deleteBenchWebhooks(services: OwnedDatabase): Promise<void> {
  await asOwner(services, (db) =>
    sql`truncate webhook, webhook_event, delivery, delivery_destination cascade`.execute(db),
  )
}
