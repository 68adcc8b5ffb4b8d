import type { Kysely } from 'kysely'
import type { DomainEvent, DomainEventOf, DomainEventType } from '../../changes/domain-event.ts'
import type { Schema } from '../../schema/schema.ts'
import {
  listEventAdmins,
  listEventDevices,
  listEventExemptionRequests,
  listEventIssues,
  listEventPeople,
  listEventRegistrationRequests,
  listEventWebhooks,
  type EventAdmin,
  type EventDevice,
  type EventIssue,
  type EventPerson,
  type EventRequest,
  type EventWebhook,
} from './event-subject-store.ts'

/** The records that a set of events is about, by id; those that are gone are absent. */
export interface EventSubjects {
  readonly devices: ReadonlyMap<string, EventDevice>
  readonly people: ReadonlyMap<string, EventPerson>
  readonly issues: ReadonlyMap<string, EventIssue>
  readonly admins: ReadonlyMap<string, EventAdmin>
  readonly exemptionRequests: ReadonlyMap<string, EventRequest>
  readonly registrationRequests: ReadonlyMap<string, EventRequest>
  readonly webhooks: ReadonlyMap<string, EventWebhook>
}

type SubjectKind = keyof EventSubjects

/** Reads the records of events: one statement for each kind of record that there is any of. */
export async function loadEventSubjects(
  db: Kysely<Schema>,
  events: readonly DomainEvent[],
): Promise<EventSubjects> {
  const ids = collectIds(events)
  const read = async <Row extends { readonly id: string }>(
    kind: SubjectKind,
    list: (db: Kysely<Schema>, ids: readonly string[]) => Promise<Row[]>,
  ): Promise<ReadonlyMap<string, Row>> => {
    const wanted = ids.get(kind)
    if (wanted === undefined) return new Map()
    const rows = await list(db, [...wanted])
    return new Map(rows.map((row) => [row.id, row]))
  }
  return {
    devices: await read('devices', listEventDevices),
    people: await read('people', listEventPeople),
    issues: await read('issues', listEventIssues),
    admins: await read('admins', listEventAdmins),
    exemptionRequests: await read('exemptionRequests', listEventExemptionRequests),
    registrationRequests: await read('registrationRequests', listEventRegistrationRequests),
    webhooks: await read('webhooks', listEventWebhooks),
  }
}

function collectIds(events: readonly DomainEvent[]): Map<SubjectKind, Set<string>> {
  const ids = new Map<SubjectKind, Set<string>>()
  for (const event of events) {
    const subject = toSubject(event)
    if (subject === undefined) continue
    const known = ids.get(subject.kind)
    if (known === undefined) ids.set(subject.kind, new Set([subject.id]))
    else known.add(subject.id)
  }
  return ids
}

interface Subject {
  readonly kind: SubjectKind
  readonly id: string
}

/** The record that has to be read for an event; none where the event says it all. */
function toSubject(event: DomainEvent): Subject | undefined {
  switch (event.type) {
    case 'auth_logs.failure':
    case 'auth_logs.success':
    case 'device.status_changed':
      return undefined
    case 'admin_users.created':
      return { kind: 'admins', id: event.adminId }
    case 'devices.created':
    case 'devices.registered':
    case 'devices.reassigned':
      return { kind: 'devices', id: event.deviceId }
    case 'devices.destroyed':
      return event.ownerPersonId === null ? undefined : { kind: 'people', id: event.ownerPersonId }
    default:
      return toOtherSubject(event)
  }
}

type OtherEventType = `issues.${string}` | `requests.${string}` | `webhook.${string}`

function toOtherSubject(event: DomainEventOf<Extract<DomainEventType, OtherEventType>>): Subject {
  switch (event.type) {
    case 'issues.new':
    case 'issues.resolved':
      return { kind: 'issues', id: event.issueId }
    case 'requests.issue_exemption':
      return { kind: 'exemptionRequests', id: event.requestId }
    case 'requests.registration':
      return { kind: 'registrationRequests', id: event.requestId }
    case 'webhook.failing':
    case 'webhook.disabled':
      return { kind: 'webhooks', id: event.webhookId }
  }
}
