/*
 * What is stored of causes: audit entries, changes of status, events and deliveries with their attempts. Every
 * statement is answered by an index and reads a bounded number of rows. SQL only.
 */
import { sql, type Kysely, type Selectable, type SqlBool } from 'kysely'
import { listRecords, toRecord } from '../../../platform/db/record-table.ts'
import type { StoredRecord } from '../../../schema/define-table.ts'
import { timeOfUlid } from '../../../platform/ids.ts'
import type { Schema } from '../../../schema/schema.ts'
import {
  ALL_DELIVERIES,
  isToKinds,
  type DestinationKind,
  type OwnedDelivery,
} from '../deliveries/all-deliveries-read.ts'
import { EVERY_ATTEMPT } from '../../dispatch/attempt-read.ts'
import type { EventQuery } from './parse-event-query.ts'

/** A cause that a search has found. */
export interface FoundCause {
  readonly txn: string
  /** The devices that were asked about, or that the event was about; null for all. */
  readonly deviceIds: readonly string[] | null
}

/** Devices of a person that are looked at. */
const DEVICES_MAX = 20
/** Rows of each kind that are read of all causes of an answer. */
export const ROWS_MAX = 500
/** The latest attempts of each delivery. */
const ATTEMPTS_MAX = 3

type Db = Kysely<Schema>

/** The causes of what a query names, the latest first, at most `limit`. */
export async function findCauses(db: Db, query: EventQuery, limit: number): Promise<FoundCause[]> {
  switch (query.kind) {
    case 'txn':
      return [{ txn: query.value, deviceIds: null }]
    case 'event_id':
      return findCauseOfEvent(db, query.value)
    case 'request_id':
      return findCausesOfRequest(db, query.value, limit)
    case 'device_id':
      return findCausesOfDevices(db, [query.value], null, limit)
    case 'person_id':
      return findCausesOfPerson(db, sql`id = ${query.value}`, limit)
    case 'email':
      return findCausesOfPerson(db, sql`lower(email) = lower(${query.value})`, limit)
  }
}

async function findCauseOfEvent(db: Db, eventId: string): Promise<FoundCause[]> {
  const { rows } = await sql<{ txn: string; device_id: string | null }>`
    (select txn, substring(subject_key from '^device:(\\d+)$') as device_id
      from delivery where event_id = ${eventId} limit 1)
    union all
    (select txn, case when object_type = 'device' then object_id end
      from webhook_event where event_id = ${eventId} limit 1)`.execute(db)
  const [row] = rows
  if (row === undefined) return []
  return [{ txn: row.txn, deviceIds: row.device_id === null ? null : [row.device_id] }]
}

async function findCausesOfRequest(
  db: Db,
  requestId: string,
  limit: number,
): Promise<FoundCause[]> {
  const { rows } = await sql<{ txn: string }>`
    select distinct txn from audit_entry where request_id = ${requestId}
    order by txn desc limit ${limit}`.execute(db)
  return rows.map(({ txn }) => ({ txn, deviceIds: null }))
}

async function findCausesOfPerson(
  db: Db,
  isPerson: ReturnType<typeof sql>,
  limit: number,
): Promise<FoundCause[]> {
  const { rows } = await sql<{ person_id: string; device_id: string | null }>`
    select person.id as person_id, device.id as device_id
    from (select id from person where ${isPerson} limit 1) person
    left join device on device.owner_person_id = person.id
    order by device.id limit ${DEVICES_MAX}`.execute(db)
  const [first] = rows
  if (first === undefined) return []
  const deviceIds = rows.flatMap(({ device_id: id }) => id ?? [])
  return findCausesOfDevices(db, deviceIds, first.person_id, limit)
}

/** Of changes of these devices, and of events of webhooks that name them or the person. */
async function findCausesOfDevices(
  db: Db,
  deviceIds: readonly string[],
  personId: string | null,
  limit: number,
): Promise<FoundCause[]> {
  const { rows } = await sql<{ txn: string }>`
    with object as (
      select 'device' as type, id from unnest(${deviceIds}::text[]) as device (id)
      union all
      select 'person', ${personId}::text where ${personId}::text is not null
    )
    select distinct txn from (
      select changed.txn from unnest(${deviceIds}::bigint[]) as device (id)
      cross join lateral (
        select txn from device_status_transition where device_id = device.id
        order by device_status_transition.id desc limit ${limit}) changed
      union all
      select told.txn from object
      cross join lateral (
        select txn from webhook_event
        where object_type = object.type and object_id = object.id
        order by webhook_event.id desc limit ${limit}) told
    ) cause
    order by txn desc limit ${limit}`.execute(db)
  return rows.map(({ txn }) => ({ txn, deviceIds: personId === null ? deviceIds : null }))
}

/** The audit entries of causes. The time of an entry is that of its cause, which the txn holds. */
export async function listEntriesOfCauses(
  db: Db,
  txns: readonly string[],
): Promise<StoredRecord<'audit_entry'>[]> {
  const times = txns.flatMap((txn) => timeOfUlid(txn) ?? [])
  return listRecords(
    db
      .selectFrom('audit_entry')
      .selectAll()
      .where('recorded_at', '=', sql<Date>`any(${times}::timestamptz[])`)
      .where('txn', '=', sql<string>`any(${txns}::text[])`)
      .orderBy('sequence')
      .limit(ROWS_MAX),
  )
}

/** A change of status, with what decides about its subject now. */
export interface StatusTransition {
  readonly deviceId: string
  readonly txn: string
  readonly occurredAt: Date
  readonly fromState: string
  readonly toState: string
  readonly fromCompliance: string
  readonly toCompliance: string
  readonly actorName: string
  readonly reason: string
  readonly name: string
  readonly platform: Schema['device']['platform']
  readonly ownerPersonId: string | null
  readonly ownerEmail: string | null
}

/** The changes of status of these devices in causes. */
export async function listTransitions(
  db: Db,
  txns: readonly string[],
  deviceIds: readonly string[],
): Promise<StatusTransition[]> {
  const { rows } = await sql<StatusTransition>`
    select t.device_id as "deviceId", t.txn, t.occurred_at as "occurredAt",
      t.from_state as "fromState", t.to_state as "toState", t.from_compliance as "fromCompliance",
      t.to_compliance as "toCompliance", t.actor_name as "actorName", t.reason,
      device.name, device.platform, person.id as "ownerPersonId", person.email as "ownerEmail"
    from device_status_transition t
    join device on device.id = t.device_id
    left join person on person.id = device.owner_person_id
    where t.device_id = any(${deviceIds}::bigint[]) and t.txn = any(${txns}::text[])
    order by t.id limit ${ROWS_MAX}`.execute(db)
  return rows
}

/** The events of webhooks in causes. */
export async function listWebhookEvents(
  db: Db,
  txns: readonly string[],
): Promise<StoredRecord<'webhook_event'>[]> {
  return listRecords(
    db
      .selectFrom('webhook_event')
      .selectAll()
      .where('txn', '=', sql<string>`any(${txns}::text[])`)
      .orderBy('id')
      .limit(ROWS_MAX),
  )
}

/** The deliveries of causes to destinations of these kinds, in their order. */
export async function listDeliveriesOfCauses(
  db: Db,
  txns: readonly string[],
  kinds: readonly DestinationKind[],
): Promise<OwnedDelivery[]> {
  const scope = sql<SqlBool>`delivery.txn = any(${txns}::text[]) and ${isToKinds(kinds)}`
  const window = { afterId: undefined, limit: ROWS_MAX }
  return ALL_DELIVERIES.listPage(db, { search: undefined, window, scope })
}

/** The latest attempts of deliveries, in their order. */
export async function listAttempts(
  db: Db,
  deliveryIds: readonly string[],
): Promise<StoredRecord<'delivery_attempt'>[]> {
  const { rows } = await sql<Selectable<Schema['delivery_attempt']>>`
    select attempt.* from unnest(${deliveryIds}::bigint[]) as delivery (id)
    cross join lateral (
      select * from ${EVERY_ATTEMPT} every where delivery_id = delivery.id
      order by number desc limit ${ATTEMPTS_MAX}) attempt
    order by attempt.id`.execute(db)
  return rows.map(toRecord)
}
