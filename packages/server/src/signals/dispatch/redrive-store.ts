/*
 * Deliveries that people move: queued again, or given up. SQL only; the states and the audit are
 * redrive-deliveries.ts's.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import { OWN_DUE_TIME } from '../history/own-due-time-store.ts'
import type { DeliveryState } from './delivery-read.ts'
import { lockedById } from './delivery-store.ts'

/**
 * A condition on rows of `delivery`: what they carry is kept elsewhere, and still is. Deliveries with a body
 * of their own do not need it.
 */
export type PayloadCondition = RawBuilder<boolean>

/** Which deliveries of an owner can be sent again. */
export interface RedriveLimits {
  /** Where payloads are that the deliveries do not carry themselves; undefined when they all do. */
  readonly payload?: PayloadCondition | undefined
  /** The types of events that it gets; undefined when it gets whatever was queued for it. */
  readonly eventTypes?: readonly string[] | undefined
}

/** Which deliveries of a destination; what is left out does not narrow it. */
export interface DeliveryFilter {
  readonly destinationId: DestinationId
  /** Ids of events. */
  readonly eventIds?: readonly string[] | undefined
  readonly states: readonly DeliveryState[]
  /** Queued at this time or later. */
  readonly since?: Date | undefined
  /** Queued at this time or earlier. */
  readonly until?: Date | undefined
}

/** As many as one call moves; call again for the rest. */
export const REDRIVE_MAX = 10_000

/** Queues deliveries anew, due now, as far as they can be sent; answers how many. */
export async function requeueDeliveries(
  db: Kysely<Schema>,
  filter: DeliveryFilter,
  limits: RedriveLimits,
): Promise<number> {
  const { rows } = await sql`
    update delivery set state = 'queued', attempt_count = 0, next_attempt_at = now(),
      finished_at = null, claimed_by = null, claim_expires_at = null, last_error = null
    where id in (
      select id from delivery where ${isSelected(filter)} and ${isSendable(limits)}
      order by id limit ${REDRIVE_MAX} for no key update
    )
    returning id`.execute(db)
  return rows.length
}

/** How many deliveries {@link requeueDeliveries} would queue. */
export async function countRequeueable(
  db: Kysely<Schema>,
  filter: DeliveryFilter,
  limits: RedriveLimits,
): Promise<number> {
  const { rows } = await sql<{ count: string }>`
    select count(*) from (
      select from delivery where ${isSelected(filter)} and ${isSendable(limits)}
      limit ${REDRIVE_MAX}
    ) as requeueable`.execute(db)
  return Number(rows[0]?.count ?? 0)
}

/**
 * Queues one delivery anew unless it is on its way or its payload is gone; answers whether it did. What waited
 * for its next attempt, because it follows it, is due now as well.
 */
export async function requeueDelivery(
  db: Kysely<Schema>,
  id: string,
  payload: PayloadCondition | undefined,
): Promise<boolean> {
  const { rows } = await sql<{ destination_id: DestinationId; subject_key: string | null }>`
    update delivery set state = 'queued', next_attempt_at = now(),
      attempt_count = case when state = 'queued' then attempt_count else 0 end,
      last_error = case when state = 'queued' then last_error end,
      finished_at = null, claimed_by = null, claim_expires_at = null
    where id = ${id} and ${hasPayload(payload)}
      and (state <> 'queued' or claim_expires_at is null or claim_expires_at <= now())
    returning destination_id, subject_key`.execute(db)
  for (const { destination_id: destinationId, subject_key: subjectKey } of rows) {
    await makeFollowersDue(db, destinationId, subjectKey === null ? [] : [subjectKey])
  }
  return rows.length > 0
}

/** Gives deliveries up; answers how many. What waited behind them of their subjects is due now. */
export async function updateToDiscarded(
  db: Kysely<Schema>,
  filter: DeliveryFilter,
  finishedAt: Date,
): Promise<number> {
  const { rows } = await sql<{ subject_key: string | null }>`
    update delivery set state = 'discarded', finished_at = ${finishedAt}, claimed_by = null,
      claim_expires_at = null, last_error = ${toGivenUpReason('It was given up on request')}
    where id in (
      select id from delivery where ${isSelected(filter)}
      order by id limit ${REDRIVE_MAX} for no key update
    )
    returning subject_key`.execute(db)
  const subjectKeys = rows.flatMap(({ subject_key }) => subject_key ?? [])
  await makeFollowersDue(db, filter.destinationId, subjectKeys)
  return rows.length
}

/**
 * The `last_error` of a delivery that is given up: why, and then what its receiver said last, which of a poll is
 * stored nowhere else.
 */
export function toGivenUpReason(reason: string): RawBuilder<string> {
  return sql`${reason}::text || coalesce('. Last error: ' || last_error, '')`
}

/**
 * Makes what was never sent of the subjects due by its own time: it waits for nothing but earlier deliveries. A claim
 * may be putting it off at this moment, for as long as it may: it is waited for. Whoever meets a deadlock begins again.
 */
async function makeFollowersDue(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  subjectKeys: readonly string[],
): Promise<void> {
  if (subjectKeys.length === 0) return
  const followers = lockedById(sql`
    destination_id = ${destinationId} and state = 'queued' and attempt_count = 0
      and claimed_by is null and subject_key = any(${subjectKeys}::text[])`)
  await sql`
    update delivery set next_attempt_at = least(next_attempt_at, ${OWN_DUE_TIME})
    where id in (${followers})`.execute(db)
}

function isSendable({ payload, eventTypes }: RedriveLimits): RawBuilder<unknown> {
  if (eventTypes === undefined) return hasPayload(payload)
  return sql`${hasPayload(payload)} and event_type = any(${eventTypes}::text[])`
}

function hasPayload(payload: PayloadCondition | undefined): RawBuilder<unknown> {
  const hasBody = sql`delivery.body <> ''`
  return payload === undefined ? hasBody : sql`(${hasBody} or ${payload})`
}

function isSelected(filter: DeliveryFilter): RawBuilder<unknown> {
  const { destinationId, eventIds, states, since, until } = filter
  const conditions = [
    sql`destination_id = ${destinationId}`,
    // One by one, so that the indexes of single states apply.
    sql`(${sql.join(
      states.map((state) => sql`state = ${sql.lit(state)}`),
      sql` or `,
    )})`,
    ...(eventIds === undefined ? [] : [sql`event_id = any(${eventIds}::text[])`]),
    ...(since === undefined ? [] : [sql`created_at >= ${since}`]),
    ...(until === undefined ? [] : [sql`created_at <= ${until}`]),
  ]
  return sql`${sql.join(conditions, sql` and `)}`
}
