/*
 * Gives claimed deliveries back in the database: some of a claim, those of a claim that was never answered, or all. SQL
 * only; when is the dispatcher's to say.
 */
import { sql, type Kysely } from 'kysely'
import { boundsFromHere, type TransactionBounds } from '../../platform/db/bound-transaction.ts'
import { timeInMs } from '../../platform/db/database-time.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import type { ClaimedDelivery } from './delivery-channel.ts'
import { isWithin, toDeliveryRange } from './delivery-range-store.ts'
import { FIRST_WAIT } from './lock-waits.ts'

/**
 * Releases claimed deliveries, due after `delayMs` at the earliest; not those whose claim has passed on. The bounds
 * hold for its locks.
 */
export async function releaseClaims(
  db: Kysely<Schema>,
  claims: readonly Pick<ClaimedDelivery, 'id' | 'claimId'>[],
  { delayMs, bounds }: { readonly delayMs: number; readonly bounds: TransactionBounds },
): Promise<void> {
  if (claims.length === 0) return
  const ids = claims.map(({ id }) => id)
  await sql`
    with wait as materialized (${boundsFromHere(bounds)})
    update delivery d
    set claimed_by = null, claim_expires_at = null,
      next_attempt_at = greatest(d.next_attempt_at, ${timeInMs(delayMs)})
    from unnest(${ids}::bigint[],
      ${claims.map(({ claimId }) => claimId)}::uuid[]) as released (id, claim_id), wait
    where d.id = released.id and ${isWithin('d', toDeliveryRange(ids))}
      and d.claimed_by = released.claim_id and d.state = 'queued'`.execute(db)
}

/**
 * Releases what a statement of this process may have claimed whose answer never came. For claims under which
 * nothing is being sent.
 */
export async function releaseClaimsOf(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  claimIds: readonly string[],
): Promise<void> {
  // Only what was due was claimed: the index of due deliveries is read no further.
  await sql`
    with wait as materialized (${boundsFromHere(FIRST_WAIT)})
    update delivery d set claimed_by = null, claim_expires_at = null
    from wait
    where d.destination_id = ${destinationId} and d.state = 'queued' and d.next_attempt_at <= now()
      and d.claimed_by = any(${claimIds}::uuid[])`.execute(db)
}

/**
 * Releases every claim. For the start of a process that is the only one to deliver: what is claimed
 * then was claimed by a process that died, and would wait for the end of its lease.
 */
export async function releaseEveryClaim(db: Kysely<Schema>): Promise<void> {
  await db
    .updateTable('delivery')
    .set({ claimed_by: null, claim_expires_at: null })
    .where('state', '=', 'queued')
    .where('claimed_by', 'is not', null)
    .execute()
}
