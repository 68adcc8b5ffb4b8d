import type { Kysely } from 'kysely'
import type { DomainEvent } from '../../changes/domain-event.ts'
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

/** The record that has to be read for an event; none where the event says it all. */
function toSubject(event: DomainEvent): { kind: SubjectKind; id: string } | undefined {
  if ('deviceId' in event) return { kind: 'devices', id: event.deviceId }
  if ('issueId' in event) return { kind: 'issues', id: event.issueId }
  if ('adminId' in event) return { kind: 'admins', id: event.adminId }
  if ('webhookId' in event) return { kind: 'webhooks', id: event.webhookId }
  if ('requestId' in event) {
    const isExemption = event.type === 'requests.issue_exemption'
    return { kind: isExemption ? 'exemptionRequests' : 'registrationRequests', id: event.requestId }
  }
  if (event.type !== 'devices.destroyed' || event.ownerPersonId === null) return undefined
  return { kind: 'people', id: event.ownerPersonId }
}
