/*
 * What differs between streams and webhooks where many receivers are looked at: how they are made, and
 * how an event is queued for one of them.
 */
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import type { Change } from '../src/changes/change.ts'
import { insertDeliveries } from '../src/signals/dispatch/delivery-store.ts'
import { systemClock } from '../src/platform/clock.ts'
import { newUuid } from '../src/platform/ids.ts'
import { insertEvent } from '../src/signals/webhooks/webhook-event-store.ts'
import { complianceChangeClaims } from './compliance-change-claims.ts'
import { deleteEvents, insertQueuedEvents } from './outbox-store.ts'
import { insertPushStream } from './push-stream-store.ts'
import type { SenderServices } from './sender-services.ts'
import { deleteBenchWebhooks, insertBenchWebhook, insertQueuedWebhooks } from './webhook-store.ts'
import type { DestinationId } from '../src/schema/branded-ids.ts'

/** An event for one receiver. */
export interface QueuedEvent {
  readonly destinationId: DestinationId
  readonly index: number
}

export interface ReceiverKind {
  readonly name: string
  /** Adds a receiver and answers the id of its destination. */
  insert(sender: SenderServices, url: string): Promise<DestinationId>
  /** Queues events for the only receiver that there is so far. */
  insertBacklog(sender: SenderServices, destinationId: DestinationId, count: number): Promise<void>
  /** Queues an event that the receiver knows by the `txn` of the change. */
  queue(change: Change, event: QueuedEvent): Promise<void>
  deleteAll(sender: SenderServices): Promise<void>
}

export const PUSH_STREAMS: ReceiverKind = {
  name: 'streams',
  insert: ({ db }, url) =>
    insertPushStream(db, { endpointUrl: url, issuer: url, at: systemClock.now() }),
  insertBacklog: ({ db }, destinationId, count) => insertQueuedEvents(db, [destinationId], count),
  async queue(change, { destinationId, index }) {
    const eventId = newUuid()
    const delivery = {
      destinationId,
      eventId,
      eventType: DEVICE_COMPLIANCE_CHANGE,
      subjectKey: `device:${index}`,
      body: JSON.stringify(complianceChangeClaims(eventId, String(index), change.txn)),
    }
    await insertDeliveries(change, [delivery])
  },
  async deleteAll(services) {
    const { db } = services
    await deleteEvents(services)
    await db.deleteFrom('ssf_stream').execute()
    await db.deleteFrom('delivery_destination').execute()
  },
}

const WEBHOOK_EVENT = 'issues.new'

export const WEBHOOKS: ReceiverKind = {
  name: 'webhooks',
  insert: insertBenchWebhook,
  async insertBacklog({ db }, _destinationId, count) {
    await insertQueuedWebhooks(db, count)
  },
  async queue(change, { destinationId, index }) {
    const eventId = change.txn
    const data = { issue_id: index, title: 'The disk is not encrypted', check_id: 17 }
    const timestamp = change.at.toISOString()
    const body = JSON.stringify({ event: WEBHOOK_EVENT, id: eventId, timestamp, data })
    const event = { eventId, eventType: WEBHOOK_EVENT, object: null, occurredAt: change.at, body }
    await insertEvent(change.tx, event, change)
    const delivery = {
      destinationId,
      eventId,
      eventType: WEBHOOK_EVENT,
      subjectKey: null,
      body: '',
    }
    await insertDeliveries(change, [delivery])
  },
  deleteAll: (services) => deleteBenchWebhooks(services),
}
