/* The steps of a trail, from what is stored of its cause: which they are, their order and their words. */
import type { Selectable } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'
import { explainFailure } from '../../dispatch/explain-failure.ts'
import type { OwnedDelivery } from '../deliveries/all-deliveries-read.ts'
import type { StatusTransition } from './event-trail-store.ts'

/** What the steps of a trail are. */
export const STEP_KINDS = ['audit', 'status', 'event', 'delivery', 'attempt'] as const

/** A step on the way of an event. */
export interface TrailStep {
  readonly kind: (typeof STEP_KINDS)[number]
  readonly at: Date
  readonly summary: string
  /** What became of a delivery or an attempt. */
  readonly state: string | null
  readonly record: { readonly type: string; readonly id: string } | null
  readonly delivery: OwnedDelivery | null
  readonly eventId: string | null
}

/** Everything that is stored of the causes of an answer. */
export interface Evidence {
  readonly entries: readonly Selectable<Schema['audit_entry']>[]
  readonly transitions: readonly StatusTransition[]
  readonly events: readonly Selectable<Schema['webhook_event']>[]
  readonly deliveries: readonly OwnedDelivery[]
  readonly attempts: ReadonlyMap<string, readonly Selectable<Schema['delivery_attempt']>[]>
}

const NOTHING = { state: null, record: null, delivery: null, eventId: null } as const

/** By kind in the order of cause and effect, and by time within one. */
export function toSteps({
  entries,
  transitions,
  events,
  deliveries,
  attempts,
}: Evidence): TrailStep[] {
  return [
    ...transitions.map((transition) => toStatusStep(transition)),
    ...entries.map((entry) => toAuditStep(entry)),
    ...events.map((event): TrailStep => {
      const { object_type: type, object_id: id } = event
      return {
        ...NOTHING,
        kind: 'event',
        at: event.occurred_at,
        summary: `The event \`${event.event_type}\` was made for webhooks.`,
        record: type === null || id === null ? null : { type, id },
        eventId: event.event_id,
      }
    }),
    ...deliveries.flatMap((delivery) => [
      toDeliveryStep(delivery),
      ...(attempts.get(delivery.id) ?? []).map((attempt) => toAttemptStep(delivery, attempt)),
    ]),
  ]
}

function toStatusStep(transition: StatusTransition): TrailStep {
  const { name, fromState, toState, reason, actorName } = transition
  return {
    ...NOTHING,
    kind: 'status',
    at: transition.occurredAt,
    summary: `${name} went from ${fromState} to ${toState}, by ${actorName}: ${reason}`,
    record: { type: 'device', id: transition.deviceId },
  }
}

function toAuditStep(entry: Selectable<Schema['audit_entry']>): TrailStep {
  const { actor_name: actor, description, target_type: type, target_id: id } = entry
  return {
    ...NOTHING,
    kind: 'audit',
    at: entry.recorded_at,
    summary: `${actor} ${description}`,
    state: entry.action,
    record: type === null || id === null ? null : { type, id },
  }
}

function toDeliveryStep(delivery: OwnedDelivery): TrailStep {
  return {
    ...NOTHING,
    kind: 'delivery',
    at: delivery.created_at,
    summary: describeDelivery(delivery),
    state: delivery.state,
    delivery,
    eventId: delivery.event_id,
  }
}

function describeDelivery({
  state,
  stream_name: stream,
  webhook_name: webhook,
  attempt_count: count,
  last_error: error,
}: OwnedDelivery): string {
  const to = stream ?? webhook ?? ''
  switch (state) {
    case 'queued':
      return count === 0
        ? `It waits to be delivered to ${to}.`
        : `It waits for another attempt to reach ${to}: ${error ?? 'the last one failed'}`
    case 'delivered':
      return `${to} has accepted it.`
    case 'dead':
      return `It could not be delivered to ${to}, and is not tried again by itself: ${error ?? ''}`
    case 'discarded':
      return `An admin has given up its delivery to ${to}.`
  }
}

function toAttemptStep(
  delivery: OwnedDelivery,
  attempt: Selectable<Schema['delivery_attempt']>,
): TrailStep {
  const { error_code: errorCode, status_code: statusCode, number, outcome } = attempt
  const failure = explainFailure({ errorCode, statusCode })
  const status = statusCode === null ? '' : ` (${statusCode})`
  return {
    ...NOTHING,
    kind: 'attempt',
    at: attempt.started_at,
    summary:
      outcome === 'accepted'
        ? `Attempt ${number} was accepted${status}.`
        : `Attempt ${number} failed${status}: ${failure?.cause ?? attempt.error ?? ''} ${failure?.remedy ?? ''}`.trim(),
    state: outcome,
    delivery,
    eventId: delivery.event_id,
  }
}
