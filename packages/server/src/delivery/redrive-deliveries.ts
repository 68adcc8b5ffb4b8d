/*
 * What people do about deliveries: send dead ones again, give up queued ones. Owns the states and the
 * audit of both; sending is the engine's.
 */
import { sql } from 'kysely'
import type { AuditTarget } from '../audit/audit-entry.ts'
import type { Change } from '../audit/change.ts'
import { notifyDestinations, type WakeDelivery } from './enqueue-deliveries.ts'

/** Which deliveries of a destination: the given ones, or all that are in the right state. */
export interface DeliverySelection {
  readonly destinationId: string
  readonly ids?: readonly string[]
  /** What the audit entry names: the stream or the webhook. */
  readonly target: AuditTarget
}

/** As many as one call moves; call again for the rest. */
export const REDRIVE_MAX = 10_000

/**
 * Sends dead deliveries again, as new as if they had just been queued, with the same event ids and in
 * their old order. The receiver is tried at once, whatever was held against it. Answers how many.
 */
export async function redriveDeliveries(
  change: Change,
  selection: DeliverySelection,
  wake: WakeDelivery,
): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    update delivery set state = 'queued', attempt_count = 0, next_attempt_at = ${change.at},
      finished_at = null, claimed_by = null, claim_expires_at = null
    where id in (
      select id from delivery
      where destination_id = ${selection.destinationId} and state = 'dead' ${onlyIds(selection)}
      order by id limit ${REDRIVE_MAX}
    )
    returning id`.execute(change.tx)
  if (rows.length === 0) return 0
  await change.tx
    .updateTable('delivery_destination')
    .set({ retry_not_before: null, consecutive_failures: 0, failing_since: null })
    .where('id', '=', selection.destinationId)
    .execute()
  await notifyDestinations(change.tx, [selection.destinationId])
  change.afterCommit(() => wake(selection.destinationId))
  change.recordAudit({
    action: 'deliveries.redriven',
    target: selection.target,
    description: `sent ${rows.length} dead deliveries again`,
    after: { count: rows.length },
  })
  return rows.length
}

/**
 * Gives up deliveries that are dead or still queued. What is being sent at this moment may still
 * arrive. Answers how many.
 */
export async function discardDeliveries(
  change: Change,
  selection: DeliverySelection,
  wake: WakeDelivery,
): Promise<number> {
  const { rows } = await sql<{ id: string; subject_key: string | null }>`
    update delivery set state = 'discarded', finished_at = ${change.at}, claimed_by = null,
      claim_expires_at = null
    where id in (
      select id from delivery
      where destination_id = ${selection.destinationId} and state in ('queued', 'dead')
        ${onlyIds(selection)}
      order by id limit ${REDRIVE_MAX}
    )
    returning id, subject_key`.execute(change.tx)
  if (rows.length === 0) return 0
  await freeFollowers(
    change,
    selection.destinationId,
    rows.flatMap(({ subject_key }) => subject_key ?? []),
  )
  await notifyDestinations(change.tx, [selection.destinationId])
  change.afterCommit(() => wake(selection.destinationId))
  change.recordAudit({
    action: 'deliveries.discarded',
    target: selection.target,
    description: `gave up ${rows.length} deliveries`,
    after: { count: rows.length },
  })
  return rows.length
}

/** What waited behind a discarded delivery of its subject waits for nothing now. */
async function freeFollowers(
  change: Change,
  destinationId: string,
  subjectKeys: readonly string[],
): Promise<void> {
  if (subjectKeys.length === 0) return
  await sql`update delivery set next_attempt_at = ${change.at}
    where destination_id = ${destinationId} and state = 'queued' and attempt_count = 0
      and claimed_by is null and subject_key = any(${subjectKeys}::text[])`.execute(change.tx)
}

function onlyIds({ ids }: DeliverySelection) {
  return ids === undefined ? sql`` : sql`and id = any(${ids}::bigint[])`
}
