/*
 * What people do about deliveries: send them again, give them up. Owns the states and the audit of
 * both, the same for everything that is delivered; sending is the engine's. Each call moves a bounded
 * number, and says whether there are more: a call again goes on.
 */
import { sql, type RawBuilder } from 'kysely'
import type { AuditTarget } from '../../changes/audit/audit-entry.ts'
import type { Change } from '../../changes/change.ts'
import { AppError } from '../../platform/app-error.ts'
import { getDeliveryOfEvent, type DeliveryDetails, type DeliveryState } from './delivery-read.ts'
import { notifyDestinations, type WakeDelivery } from './enqueue-deliveries.ts'

/** Whose deliveries. */
export interface DeliveryOwner {
  readonly destinationId: string
  /** What the audit entry names: the stream or the webhook. */
  readonly target: AuditTarget
}

/** Which deliveries of a destination; what is left out does not narrow it. */
export interface DeliverySelection extends DeliveryOwner {
  /** Ids of deliveries. */
  readonly ids?: readonly string[] | undefined
  /** Ids of events. */
  readonly eventIds?: readonly string[] | undefined
  /** The states to take; each use case says which when left out. */
  readonly states?: readonly DeliveryState[] | undefined
  /** Queued at this time or later. */
  readonly since?: Date | undefined
  /** Queued at this time or earlier. */
  readonly until?: Date | undefined
}

/** What a call moved. */
export interface MovedDeliveries {
  readonly count: number
  /** More fit the selection than one call moves. */
  readonly hasMore: boolean
}

/** As many as one call moves; call again for the rest. */
export const REDRIVE_MAX = 10_000

/**
 * Sends dead deliveries again, as new as if they had just been queued, with the same event ids and in
 * their old order. The receiver is tried at once, whatever was held against it. With `states`, also
 * discarded ones. What has been deleted of its payload is passed over.
 */
export async function redriveDeliveries(
  change: Change,
  selection: DeliverySelection,
  wake: WakeDelivery,
): Promise<MovedDeliveries> {
  const states = selection.states ?? ['dead']
  const { rows } = await sql<{ id: string }>`
    update delivery set state = 'queued', attempt_count = 0, next_attempt_at = ${change.at},
      finished_at = null, claimed_by = null, claim_expires_at = null
    where id in (
      select id from delivery where ${isSelected({ ...selection, states })} and ${isSendable}
      order by id limit ${REDRIVE_MAX}
    )
    returning id`.execute(change.tx)
  const moved = { count: rows.length, hasMore: rows.length === REDRIVE_MAX }
  if (moved.count === 0) return moved
  await tryAtOnce(change, selection.destinationId, wake)
  change.recordAudit({
    action: 'deliveries.redriven',
    target: selection.target,
    description: `sent ${moved.count} deliveries again`,
    after: { count: moved.count, states, ...toAuditRange(selection) },
  })
  return moved
}

/**
 * Sends one event again whatever became of it, with the same event id. One that is queued is tried at
 * once; one that is on its way is left to arrive. Answers the delivery as it is afterwards.
 *
 * @throws AppError `not_found`; `conflict` when its payload has been deleted
 */
export async function resendDelivery(
  change: Change,
  { destinationId, target }: DeliveryOwner,
  eventId: string,
  wake: WakeDelivery,
): Promise<DeliveryDetails> {
  const before = await getDeliveryOfEvent(change.tx, destinationId, eventId)
  const { numAffectedRows = 0n } = await sql`
    update delivery set state = 'queued', next_attempt_at = ${change.at},
      attempt_count = case when state = 'queued' then attempt_count else 0 end,
      finished_at = null, claimed_by = null, claim_expires_at = null
    where id = ${before.id} and ${isSendable}
      and (state <> 'queued' or claim_expires_at is null or claim_expires_at <= ${change.at})`.execute(
    change.tx,
  )
  if (numAffectedRows === 0n) {
    const isOnItsWay = before.state === 'queued'
    if (isOnItsWay) return before
    throw new AppError(
      'conflict',
      'conflict',
      'What this event carried has been deleted after its retention; it cannot be sent again.',
    )
  }
  await tryAtOnce(change, destinationId, wake)
  change.recordAudit({
    action: 'delivery.resent',
    target,
    description: `sent the event ${eventId} again`,
    before: { state: before.state },
    after: { state: 'queued', event_id: eventId },
  })
  return getDeliveryOfEvent(change.tx, destinationId, eventId)
}

/**
 * Gives up deliveries that are dead or still queued. What is being sent at this moment may still
 * arrive.
 */
export async function discardDeliveries(
  change: Change,
  selection: DeliverySelection,
  wake: WakeDelivery,
): Promise<MovedDeliveries> {
  const states = selection.states ?? ['queued', 'dead']
  const { rows } = await sql<{ id: string; subject_key: string | null }>`
    update delivery set state = 'discarded', finished_at = ${change.at}, claimed_by = null,
      claim_expires_at = null
    where id in (
      select id from delivery where ${isSelected({ ...selection, states })}
      order by id limit ${REDRIVE_MAX}
    )
    returning id, subject_key`.execute(change.tx)
  const moved = { count: rows.length, hasMore: rows.length === REDRIVE_MAX }
  if (moved.count === 0) return moved
  await freeFollowers(
    change,
    selection.destinationId,
    rows.flatMap(({ subject_key }) => subject_key ?? []),
  )
  await wakeAfterwards(change, selection.destinationId, wake)
  change.recordAudit({
    action: 'deliveries.discarded',
    target: selection.target,
    description: `gave up ${moved.count} deliveries`,
    after: { count: moved.count, states, ...toAuditRange(selection) },
  })
  return moved
}

/** Forgets what was held against the receiver, so that nothing waits for a pause to end. */
async function tryAtOnce(change: Change, destinationId: string, wake: WakeDelivery): Promise<void> {
  await change.tx
    .updateTable('delivery_destination')
    .set({ retry_not_before: null, consecutive_failures: 0, failing_since: null })
    .where('id', '=', destinationId)
    .execute()
  await wakeAfterwards(change, destinationId, wake)
}

async function wakeAfterwards(
  change: Change,
  destinationId: string,
  wake: WakeDelivery,
): Promise<void> {
  await notifyDestinations(change.tx, [destinationId])
  change.afterCommit(() => wake(destinationId))
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

/** Webhook messages keep their body with the event; nothing is left of what was deleted. */
const isSendable = sql`(delivery.body <> '' or exists (
  select from webhook_event
  where webhook_event.event_id = delivery.event_id and webhook_event.body is not null))`

function isSelected(
  selection: DeliverySelection & { readonly states: readonly DeliveryState[] },
): RawBuilder<unknown> {
  const { destinationId, ids, eventIds, states, since, until } = selection
  const conditions = [
    sql`destination_id = ${destinationId}`,
    // One by one, so that the indexes of single states apply.
    sql`(${sql.join(
      states.map((state) => sql`state = ${sql.lit(state)}`),
      sql` or `,
    )})`,
    ...(ids === undefined ? [] : [sql`id = any(${ids}::bigint[])`]),
    ...(eventIds === undefined ? [] : [sql`event_id = any(${eventIds}::text[])`]),
    ...(since === undefined ? [] : [sql`created_at >= ${since}`]),
    ...(until === undefined ? [] : [sql`created_at <= ${until}`]),
  ]
  return sql`${sql.join(conditions, sql` and `)}`
}

function toAuditRange({ since, until }: DeliverySelection) {
  return { since: since?.toISOString() ?? null, until: until?.toISOString() ?? null }
}
