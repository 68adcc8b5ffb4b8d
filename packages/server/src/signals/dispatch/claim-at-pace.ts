/*
 * Takes due deliveries of a destination at the pace of their channel, and makes the requests for them. Does
 * not decide when to claim, and sends nothing.
 */
import type { Kysely } from 'kysely'
import { unlessAborted } from '../../platform/unless-aborted.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import {
  claimDeliveries,
  type Claimed,
  type ClaimRequest,
  type DestinationSchedule,
} from './claim-store.ts'
import type { DeliveryChannel } from './delivery-channel.ts'
import type { DeliveryLog } from './delivery-log.ts'

/** What one statement claimed, and how it is sent. */
export interface Claim extends Claimed {
  readonly channel: DeliveryChannel
}

/** A claim of a dispatcher; they are numbered through. */
export interface NumberedClaim extends Claim {
  readonly number: number
  /** When the next of what it left is due, `Infinity` when nothing waits; undefined where it did not look. */
  readonly nextDueAtMs?: number | undefined
}

/** What a look at a destination found, and what it claimed at once. */
export interface Look {
  readonly claim?: NumberedClaim | undefined
  /**
   * What stood in the way when it might have claimed and could not: all that was due is held by others, or waits for
   * something earlier of its subject.
   */
  readonly met?: 'held' | 'blocked' | undefined
  readonly schedule: DestinationSchedule | undefined
}

/**
 * Claims as many due deliveries as the pace of their destination allows, and uses up no more of it. `waitMs` is
 * how long the pace allows nothing; undefined when that did not stand in the way.
 */
export async function claimAtPace(
  db: Kysely<Schema>,
  channel: Pick<DeliveryChannel, 'pace' | 'claimKid'>,
  { isPaced, ...request }: Omit<ClaimRequest, 'kid'> & { readonly isPaced: boolean },
): Promise<Claimed & { readonly waitMs: number | undefined }> {
  const { destinationId, limit } = request
  const { pace } = channel
  const kid = channel.claimKid(destinationId)
  if (pace === undefined || !isPaced) {
    return { ...(await claimUnblocked(db, { ...request, kid })), waitMs: undefined }
  }
  const { granted, waitMs } = await pace.take(destinationId, limit)
  if (granted === 0) {
    return { deliveries: [], isAll: false, hasParked: false, waitMs: Math.max(1, waitMs) }
  }
  const claimed = await claimUnblocked(db, { ...request, kid, limit: granted })
  const spared = granted - claimed.deliveries.length
  if (spared > 0) await pace.giveBack(destinationId, spared)
  return { ...claimed, waitMs: undefined }
}

/** Claims, and looks further where all that a claim looked at is blocked. */
async function claimUnblocked(db: Kysely<Schema>, request: ClaimRequest): Promise<Claimed> {
  const claimed = await claimDeliveries(db, request)
  if (claimed.deliveries.length > 0 || !claimed.hasParked || request.isPastBlocked) return claimed
  return claimDeliveries(db, { ...request, isPastBlocked: true })
}

/**
 * The requests of a claim, in the order of its deliveries; undefined when none can be made now, and as soon as an end
 * begins: what prepares may wait for a lock. Never rejects: what went wrong is logged.
 */
export async function prepareClaim(
  destinationId: DestinationId,
  { deliveries, channel }: Claim,
  { log, end }: { readonly log: Pick<DeliveryLog, 'error'>; readonly end: AbortSignal },
): ReturnType<DeliveryChannel['prepare']> {
  if (end.aborted) return undefined
  try {
    return await unlessAborted(channel.prepare(destinationId, deliveries), end)
  } catch (error) {
    log.error({ err: error, destination_id: destinationId }, 'deliveries could not be prepared')
    return undefined
  }
}
