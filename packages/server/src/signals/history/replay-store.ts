/*
 * The SETs of a stream that can be sent once more, as rows. SQL only; the rules are in replay-stream.ts.
 */
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Stream } from '../streams/stream-store.ts'

/** Where a replay begins: with a time, after a delivery, or with a number. */
export type ReplayPlace =
  { readonly since: Date } | { readonly afterId: string } | { readonly fromSequence: number }

/** The delivery of an event of a destination; undefined when it is not kept. */
export async function findDelivery(
  tx: Transaction<Schema>,
  destinationId: DestinationId,
  eventId: string,
): Promise<{ id: string; createdAt: Date; sequence: string | null } | undefined> {
  return (
    tx
      .selectFrom('delivery')
      .select(['id', 'created_at as createdAt', 'sequence'])
      // A name that cannot be stored is nobody's.
      .where('event_id', '=', toStorableText(eventId))
      .where('destination_id', '=', destinationId)
      .executeTakeFirst()
  )
}

/** Whether every number that a stream has given from one on is still kept, with what it carried. */
export async function hasEverySequence(
  tx: Transaction<Schema>,
  { id, destinationId }: Pick<Stream, 'id' | 'destinationId'>,
  from: number,
): Promise<boolean> {
  const { rows } = await sql<{ count: string; last: string | null }>`
    select count(*)::text as count,
      (select last_sequence::text from ssf_stream_sequence where ssf_stream_id = ${id}) as last
    from delivery
    where destination_id = ${destinationId} and sequence >= ${from} and body <> ''
  `.execute(tx)
  const given = Math.max(0, Number(rows[0]?.last ?? 0) - from + 1)
  return Number(rows[0]?.count ?? 0) === given
}

/**
 * Queues what has been sent from a place on once more, and answers the numbers. Their old times keep them
 * before what happened later to the same device, and in their order: none comes after a later one that began earlier.
 */
export async function requeueSets(
  tx: Transaction<Schema>,
  destinationId: DestinationId,
  place: ReplayPlace,
  limit: number,
): Promise<(number | null)[]> {
  const { rows } = await sql<{ sequence: string | null }>`
    with sent as materialized (
      select id, created_at from delivery
      where destination_id = ${destinationId} and state in ('delivered', 'dead')
        and event_type = ${DEVICE_COMPLIANCE_CHANGE} and ${toCondition(place)} and body <> ''
      order by id limit ${limit} for update),
    timed as (
      select id, least(now(), min(created_at) over (order by id desc)) as due_at from sent)
    update delivery set state = 'queued', attempt_count = 0, next_attempt_at = timed.due_at,
      finished_at = null, claimed_by = null, claim_expires_at = null, last_error = null
    from timed where delivery.id = timed.id
    returning sequence`.execute(tx)
  return rows.map(({ sequence }) => (sequence === null ? null : Number(sequence)))
}

/**
 * Whether events from a place on were given up, or what they carried is no longer kept: only the state of the
 * stream says what they said.
 */
export async function hasLost(
  tx: Transaction<Schema>,
  destinationId: DestinationId,
  place: ReplayPlace,
): Promise<boolean> {
  const { rows } = await sql<{ isFound: boolean }>`
    select exists (
      select from delivery
      where destination_id = ${destinationId} and (state = 'discarded' or body = '')
        and event_type = ${DEVICE_COMPLIANCE_CHANGE} and ${toCondition(place)}) as "isFound"`.execute(
    tx,
  )
  return rows[0]?.isFound === true
}

function toCondition(place: ReplayPlace): RawBuilder<unknown> {
  if ('since' in place) return sql`created_at >= ${place.since}`
  if ('afterId' in place) return sql`id > ${place.afterId}`
  return sql`sequence >= ${place.fromSequence}`
}
