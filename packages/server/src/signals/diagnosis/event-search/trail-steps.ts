/* The steps of a trail, from what is stored of its cause: which they are, their order and their words. */
import type { StoredRecord } from '../../../schema/define-table.ts'
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
  readonly entries: readonly StoredRecord<'audit_entry'>[]
  readonly transitions: readonly StatusTransition[]
  readonly events: readonly StoredRecord<'webhook_event'>[]
  readonly deliveries: readonly OwnedDelivery[]
  readonly attempts: ReadonlyMap<string, readonly StoredRecord<'delivery_attempt'>[]>
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
      const { objectType: type, objectId: id } = event
      return {
        ...NOTHING,
        kind: 'event',
        at: event.occurredAt,
        summary: `The event \`${event.eventType}\` was made for webhooks.`,
        record: type === null || id === null ? null : { type, id },
        eventId: event.eventId,
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

function toAuditStep(entry: StoredRecord<'audit_entry'>): TrailStep {
  const { actorName: actor, description, targetType: type, targetId: id } = entry
  return {
    ...NOTHING,
    kind: 'audit',
    at: entry.recordedAt,
    summary: `${actor} ${description}`,
    state: entry.action,
    record: type === null || id === null ? null : { type, id },
  }
}

function toDeliveryStep(delivery: OwnedDelivery): TrailStep {
  return {
    ...NOTHING,
    kind: 'delivery',
    at: delivery.createdAt,
    summary: describeDelivery(delivery),
    state: delivery.state,
    delivery,
    eventId: delivery.eventId,
  }
}

function describeDelivery({
  state,
  streamName: stream,
  webhookName: webhook,
  attemptCount: count,
  lastError: error,
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
      return `Its delivery to ${to} was given up${error === null ? '.' : `: ${error}`}`
  }
}

function toAttemptStep(
  delivery: OwnedDelivery,
  attempt: StoredRecord<'delivery_attempt'>,
): TrailStep {
  const { errorCode, statusCode, number, outcome } = attempt
  const failure = explainFailure({ errorCode, statusCode })
  const status = statusCode === null ? '' : ` (${statusCode})`
  return {
    ...NOTHING,
    kind: 'attempt',
    at: attempt.startedAt,
    summary:
      outcome === 'accepted'
        ? `Attempt ${number} was accepted${status}.`
        : `Attempt ${number} failed${status}: ${failure?.cause ?? attempt.error ?? ''} ${failure?.remedy ?? ''}`.trim(),
    state: outcome,
    delivery,
    eventId: delivery.eventId,
  }
}
