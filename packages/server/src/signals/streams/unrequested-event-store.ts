/*
 * Events of types that a stream does not ask for any more: they are given up when it ceases to ask, and, as a change
 * that ran beside that may have queued some since, when they are about to be handed out.
 */
import { isStreamEventType, STREAM_EVENT_TYPES } from '@heliograph/ssf'
import { sql, type Kysely } from 'kysely'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import type { ClaimedDelivery } from '../dispatch/delivery-channel.ts'
import { isWithin, toDeliveryRange } from '../dispatch/delivery-range-store.ts'
import { lockedById } from '../dispatch/delivery-store.ts'
import { toGivenUpReason } from '../dispatch/redrive-store.ts'

/** Whether a stream gets events of a type: it asks for them, or they are about the stream itself. */
export function isRequested(
  { eventsRequested }: { readonly eventsRequested: readonly string[] },
  eventType: string,
): boolean {
  return eventsRequested.includes(eventType) || isStreamEventType(eventType)
}

/** The types of which {@link isRequested} is true. */
export function requestedTypes({
  eventsRequested,
}: {
  readonly eventsRequested: readonly string[]
}): string[] {
  return [...eventsRequested, ...STREAM_EVENT_TYPES]
}

const REASON = 'The stream no longer asks for events of this type'

/**
 * Gives up what waits of types that a stream does not ask for, but for what is claimed: that is for its worker to give
 * up. Nothing of another type waits behind it: events of a subject have one type. What the stream asks for is read by
 * the statement that sees what waits: a caller's copy of the stream may be older than an event that the stream asks for
 * since. Answers how many it gave up.
 */
export async function discardUnrequested(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  at: Date,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update delivery set state = 'discarded', finished_at = ${at}, claimed_by = null,
      claim_expires_at = null, last_error = ${toGivenUpReason(REASON)}
    where id in (${lockedById(sql`
      destination_id = ${destinationId} and state = 'queued'
        and id >= (select queued_from_id from delivery_destination where id = ${destinationId})
        and (claim_expires_at is null or claim_expires_at <= now())
        and event_type <> all(${STREAM_EVENT_TYPES}::text[])
        and event_type <> all(array(
          select unnest(events_requested) from ssf_stream where destination_id = ${destinationId}
        ))`)})`.execute(db)
  return Number(numAffectedRows ?? 0n)
}

/** Gives up deliveries that their worker has claimed; not those whose claim has passed on. */
export async function discardClaimed(
  db: Kysely<Schema>,
  claims: readonly Pick<ClaimedDelivery, 'id' | 'claimId'>[],
): Promise<void> {
  const ids = claims.map(({ id }) => id)
  await sql`
    update delivery d set state = 'discarded', finished_at = now(), claimed_by = null,
      claim_expires_at = null, last_error = ${toGivenUpReason(REASON)}
    from unnest(${ids}::bigint[],
      ${claims.map(({ claimId }) => claimId)}::uuid[]) as unrequested (id, claim_id)
    where d.id = unrequested.id and ${isWithin('d', toDeliveryRange(ids))}
      and d.claimed_by = unrequested.claim_id and d.state = 'queued'`.execute(db)
}
