/*
 * Queued deliveries as rows, and the notifications that wake those who send them. SQL only.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Change } from '../../changes/change.ts'
import { notify } from '../../platform/db/listener.ts'
import { UNAWAITED } from '../../platform/db/unawaited.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import { OWN_DUE_TIME } from '../history/own-due-time-store.ts'

/** The NOTIFY channel of queued deliveries and changed destinations; the payload is a destination id. */
export const DELIVERY_CHANNEL = 'delivery'

/** The NOTIFY channel of destinations whose receiver is reached in another way; the payload is a destination id. */
export const DELIVERY_TARGET_CHANNEL = 'delivery_target'

/** The destination that a notification on one of these channels names; it may be gone. */
export function toDestinationId(payload: string): DestinationId {
  return payload as DestinationId
}

/** Something to deliver. Body and event id never change again. */
export interface NewDelivery {
  readonly destinationId: DestinationId
  /** Unique over all deliveries: the `jti` of a SET, the id of a webhook message. */
  readonly eventId: string
  readonly eventType: string
  /**
   * Deliveries of one destination and subject go out in the order of their rows. The caller holds a
   * lock on the subject's record, or two changes at once could queue in either order.
   */
  readonly subjectKey: string | null
  readonly body: string
  /** Delivered also while its destination is held or stopped: it tells of that. False by default. */
  readonly outlivesStop?: boolean
  /** Of a cause of its own; that of the change by default. */
  readonly txn?: string
  /** How long it is held back; it may go out at once by default. */
  readonly delayMs?: number
}

/** Why there is something to deliver. */
export type DeliveryCause = Pick<Change, 'tx' | 'txn' | 'at'>

/** The change that deliveries are queued in. */
type QueueingChange = DeliveryCause & Pick<Change, 'tellAfterCommit'>

/**
 * Queues deliveries in an open transaction, and has every process told of them after the commit; what a process that
 * dies right then has not told is found by the sweeps. They are due at once unless they say otherwise, by the clock of
 * the database.
 */
export async function queueDeliveries(
  cause: QueueingChange,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  if (deliveries.length === 0) return
  await sql`${UNAWAITED} with ${queuedRows(cause, deliveries)} select from queued where false`.execute(
    cause.tx,
  )
  tellOfQueued(cause, deliveries)
}

/** The same for those who need their ids, in the order of `deliveries`. */
export async function insertDeliveries(
  cause: QueueingChange,
  deliveries: readonly NewDelivery[],
): Promise<string[]> {
  if (deliveries.length === 0) return []
  const inserted = await sql<{ id: string; event_id: string }>`
    with ${queuedRows(cause, deliveries)} select id, event_id from queued`.execute(cause.tx)
  tellOfQueued(cause, deliveries)
  const idOfEvent = new Map(inserted.rows.map(({ id, event_id }) => [event_id, id]))
  return deliveries.map(({ eventId }) => idOfEvent.get(eventId) ?? '')
}

function tellOfQueued(cause: QueueingChange, deliveries: readonly NewDelivery[]): void {
  tellDestinations(cause, new Set(deliveries.map(({ destinationId }) => destinationId)))
}

/**
 * Polls read by the time at which deliveries are due: that of the statement, not of its transaction, which may have
 * begun before another one about the same subject that it then waited for.
 */
function queuedRows(
  { txn, at }: Pick<DeliveryCause, 'txn' | 'at'>,
  deliveries: readonly NewDelivery[],
) {
  const rows = deliveries.map((delivery) => ({
    destination_id: delivery.destinationId,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    subject_key: delivery.subjectKey,
    body: delivery.body,
    outlives_stop: delivery.outlivesStop ?? false,
    txn: delivery.txn ?? txn,
    delay_ms: delivery.delayMs ?? 0,
  }))
  return sql`queued as (
      insert into delivery (destination_id, event_id, event_type, subject_key, body, outlives_stop,
        state, next_attempt_at, txn, created_at)
      select d.destination_id, d.event_id, d.event_type, d.subject_key, d.body, d.outlives_stop,
        'queued', statement_timestamp() + d.delay_ms * interval '1 millisecond', d.txn,
        ${at}::timestamptz
      from rows from (json_to_recordset(${JSON.stringify(rows)}::json) as (
          destination_id bigint, event_id text, event_type text, subject_key text, body text,
          outlives_stop boolean, txn text, delay_ms float8)) with ordinality
        as d(destination_id, event_id, event_type, subject_key, body, outlives_stop, txn, delay_ms,
          place)
      order by d.place
      returning id, event_id)`
}

/** Tells every process, once the change is durable, that these destinations have changed; sweeps find it as well. */
export function tellDestinations(
  change: Pick<Change, 'tellAfterCommit'>,
  destinationIds: Iterable<DestinationId>,
): void {
  change.tellAfterCommit(DELIVERY_CHANNEL, ...destinationIds)
}

/** Tells every process, once this transaction commits, that these destinations have changed: outside of a change. */
export async function notifyDestinations(
  db: Kysely<Schema>,
  destinationIds: readonly DestinationId[],
): Promise<void> {
  await sql`${UNAWAITED} select pg_notify(${DELIVERY_CHANNEL}, id)
    from unnest(${destinationIds}::text[]) as destination (id)`.execute(db)
}

/**
 * Tells every process, once this transaction commits, that requests to this destination have another address or are
 * authenticated otherwise: what is prepared and not sent is prepared again.
 */
export async function notifyTargetChanged(
  db: Kysely<Schema>,
  destinationId: DestinationId,
): Promise<void> {
  await notify(db, DELIVERY_TARGET_CHANNEL, destinationId)
}

/**
 * The ids of the deliveries that fit, locked one after another, for `id in (...)`: whoever waits for several takes
 * them by id, so that no two wait for each other. The condition is one on `delivery`.
 */
export function lockedById(condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`select id from delivery where ${condition} order by id for no key update`
}

/**
 * Makes what waits for its next attempt due now, the earliest `max` of it, but for what is held back; what is on its
 * way is left alone.
 * With `attemptsMax`, no more attempts than that are counted.
 */
export async function makeDueNow(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  { max, attemptsMax }: { readonly max: number; readonly attemptsMax?: number },
): Promise<void> {
  await sql`
    update delivery set next_attempt_at = least(next_attempt_at, ${OWN_DUE_TIME}),
      attempt_count = least(attempt_count, ${attemptsMax ?? null}::integer)
    where id in (
      select id from delivery
      where destination_id = ${destinationId} and state = 'queued' and next_attempt_at > now()
        and claimed_by is null
      order by next_attempt_at, id
      limit ${max}
      for update skip locked
    )`.execute(db)
}
