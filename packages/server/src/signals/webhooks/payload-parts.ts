import type { EventSubjects } from './event-subject-store.ts'
import type { SubscribableEvent } from './webhook-event-types.ts'

/** What is sent of an event under one of its names. */
export interface WebhookPayload {
  readonly type: SubscribableEvent
  /** The record that events are searched by. */
  readonly object: { readonly type: string; readonly id: string } | null
  readonly occurredAt: Date
  readonly data: object
}

/** What payloads are made with. */
export interface PayloadContext {
  readonly subjects: EventSubjects
  readonly baseUrl: string
  /** The time of the change, for events without one of their own. */
  readonly at: Date
}

/** A payload about a record. */
export function payload(
  type: SubscribableEvent,
  [objectType, objectId]: readonly [type: string, id: string],
  occurredAt: Date,
  data: object,
): WebhookPayload {
  return { type, object: { type: objectType, id: objectId }, occurredAt, data }
}

/** Where the API shows a record. */
export function toUrl({ baseUrl }: PayloadContext, collection: string, id: string): string {
  return `${baseUrl}/${collection}/${id}`
}
