/*
 * Sends single deliveries at once, for callers who wait to hear what became of them: test events. Owns the
 * claim that keeps the dispatchers away, one attempt and its record, by the channels and the statements of the
 * engine. Needs no running engine, so that it works in a process that does not dispatch.
 */
import type { Kysely } from 'kysely'
import type { Change } from '../../changes/change.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import { newUuid } from '../../platform/ids.ts'
import type { Schema } from '../../schema/schema.ts'
import { attemptDelivery, type AttemptDependencies } from './attempt-delivery.ts'
import { claimQueuedDelivery } from './claim-store.ts'
import type { ClaimedDelivery, DeliveryChannel, DestinationKind } from './delivery-channel.ts'
import type { DeliveryOutcome } from './delivery-outcome.ts'
import { DEFAULT_DELIVERY_SETTINGS } from './delivery-settings.ts'
import { insertDeliveries, type NewDelivery } from './delivery-store.ts'
import { recordOutcomes } from './outcome-store.ts'

/** A delivery that this process sends itself. */
export interface ReservedDelivery {
  readonly kind: DestinationKind
  readonly delivery: ClaimedDelivery
}

export interface DeliverySender {
  /**
   * Queues a delivery in the open change, claimed by this process. When the process dies before it has sent
   * it, a dispatcher takes it up after the lease.
   */
  reserve(change: Change, kind: DestinationKind, delivery: NewDelivery): Promise<ReservedDelivery>
  /**
   * Sends a reserved delivery once, after its change has committed, and records the attempt: `delivered`
   * when it was accepted, else `discarded`. Undefined when the destination no longer exists. Outside any
   * transaction.
   */
  sendNow(reserved: ReservedDelivery): Promise<DeliveryOutcome | undefined>
}

export interface DeliverySenderDependencies extends Omit<AttemptDependencies, 'random'> {
  readonly db: Kysely<Schema>
  readonly channels: readonly DeliveryChannel[]
}

/** Somebody waits for the answer. */
const REQUEST_TIMEOUT_MS = 10 * SECOND_MS
const BOUNDS = { lockMs: REQUEST_TIMEOUT_MS, statementMs: REQUEST_TIMEOUT_MS }

export function createDeliverySender(dependencies: DeliverySenderDependencies): DeliverySender {
  const { db, channels } = dependencies
  const getChannel = (kind: DestinationKind): DeliveryChannel => {
    const channel = channels.find((one) => one.kind === kind)
    if (channel === undefined) throw new Error(`nothing is sent to destinations of kind ${kind}`)
    return channel
  }
  return {
    async reserve(change, kind, delivery) {
      const { destinationId } = delivery
      const kid = getChannel(kind).claimKid(destinationId)
      const [id = ''] = await insertDeliveries(change, [delivery])
      const { leaseMs } = DEFAULT_DELIVERY_SETTINGS
      const claim = { destinationId, claimId: newUuid(), leaseMs, kid }
      return { kind, delivery: await claimQueuedDelivery(change.tx, id, claim) }
    },

    async sendNow({ kind, delivery }) {
      const channel = getChannel(kind)
      const options = { hasFreshCredentials: true }
      const prepared = await channel.prepare(delivery.destinationId, [delivery], options)
      if (prepared === undefined) return undefined
      const [request] = prepared
      if (request === undefined || request === 'ended') {
        throw new Error(`the delivery ${delivery.id} cannot be prepared`)
      }
      // Without delays there is no second attempt; without notices the destination stays as it is.
      const timeouts = { totalMs: REQUEST_TIMEOUT_MS }
      const rules = {
        logEvent: channel.logEvent,
        classify: channel.classify.bind(channel),
        retryDelaysMs: [],
        timeouts,
      }
      const item = { delivery, prepared: { ...request, isKeptWhenExhausted: false } }
      const attempt = await attemptDelivery(item, rules, { ...dependencies, random: () => 0 })
      if (attempt.kind === 'unfinished') throw new Error(`the delivery ${delivery.id} was not sent`)
      const { outcome } = attempt
      const state = outcome.verdict.kind === 'accepted' ? 'delivered' : 'discarded'
      await recordOutcomes(db, [{ ...outcome, state }], BOUNDS)
      return { ...outcome, state }
    },
  }
}
