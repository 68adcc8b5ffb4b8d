/*
 * The deliveries of all streams and webhooks as one list, with whom each goes to. Owns the fields that only
 * this list has; who may see which is the routes' matter. SQL only.
 */
import { sql, type Kysely, type SqlBool } from 'kysely'
import {
  clausesOfAll,
  type SearchClause,
  type SearchExpression,
} from '../../../platform/search/search-field.ts'
import { RecordList, type RowOf } from '../../../platform/search/record-list.ts'
import { clauseToSql } from '../../../platform/search/search-to-sql.ts'
import type { Schema } from '../../../schema/schema.ts'
import {
  DELIVERY_FIELDS,
  DELIVERY_TIMES,
  hasTypesOf,
  isAboutDevice,
  isReadUnless,
  RECORD_COLUMNS,
} from '../../dispatch/delivery-read.ts'

/** The kinds of destinations, as the API names them. */
export const DESTINATION_KINDS = ['ssf_stream', 'webhook'] as const

export type DestinationKind = (typeof DESTINATION_KINDS)[number]

/** Of an event of webhooks the delivery names no subject: the event names its record. */
function isAboutDeviceAtAll(clause: SearchClause) {
  return [
    isAboutDevice(clause),
    sql<SqlBool>`(delivery.subject_key is null
    and ${isEventAbout('device', clause)})`,
  ]
}

function isEventAbout(type: 'device' | 'person', clause: SearchClause) {
  const ids = clause.values.map(String)
  return sql<SqlBool>`delivery.event_id = any(array(
    select webhook_event.event_id from webhook_event
    where webhook_event.object_type = ${type} and webhook_event.object_id = any(${ids}::text[])))`
}

/** Of events of devices that the person owns now, and of the person itself. */
function isAboutPerson(clause: SearchClause) {
  const owns = clauseToSql(sql.ref('device.owner_person_id'), clause)
  return [
    sql<SqlBool>`(delivery.subject_key = any(array(select 'device:' || device.id from device where ${owns})))`,
    sql<SqlBool>`(delivery.subject_key is null and (${isEventAbout('person', clause)}
      or delivery.event_id = any(array(
        select webhook_event.event_id from webhook_event
        where webhook_event.object_type = 'device'
          and webhook_event.object_id = any(array(select device.id::text from device where ${owns}))))))`,
  ]
}

/**
 * By the destination, which every index of deliveries begins with. Of one id, PostgreSQL expects no more than one, and
 * looks for nothing where it has none.
 */
function isTo(table: DestinationKind) {
  return (clause: SearchClause) => {
    const ids = sql`(select ${sql.ref(`${table}.destination_id`)} from ${sql.table(table)}
      where ${clauseToSql(sql.ref(`${table}.id`), clause)})`
    return isOfOne(clause)
      ? sql<SqlBool>`(${ids} is not null and delivery.destination_id = ${ids})`
      : sql<SqlBool>`delivery.destination_id = any(array${ids})`
  }
}

function isOfOne({ values }: SearchClause): boolean {
  return values.length === 1
}

/** The index that answers a single destination is in the order of the key. */
function isReadOfOne(clause: SearchClause) {
  return isOfOne(clause) ? 'by key' : false
}

/** The deliveries of all destinations. */
export const ALL_DELIVERIES = new RecordList({
  noun: 'delivery',
  table: 'delivery',
  fields: {
    ...DELIVERY_FIELDS,
    // The index of dead ones begins with their destination.
    state: { ...DELIVERY_FIELDS.state, isRead: isReadUnless('queued', 'dead') },
    device_id: { type: 'id', column: isAboutDeviceAtAll },
    person_id: { type: 'id', column: isAboutPerson },
    stream_id: { type: 'id', column: isTo('ssf_stream'), isRead: isReadOfOne },
    webhook_id: { type: 'id', column: isTo('webhook'), isRead: isReadOfOne },
  },
  ...DELIVERY_TIMES,
  select: (db: Kysely<Schema>) =>
    db
      .selectFrom('delivery')
      .leftJoin('ssf_stream', 'ssf_stream.destination_id', 'delivery.destination_id')
      .leftJoin('webhook', 'webhook.destination_id', 'delivery.destination_id')
      .select(RECORD_COLUMNS.map((column) => `delivery.${column}` as const))
      .select([
        'ssf_stream.id as stream_id',
        'ssf_stream.name as stream_name',
        'webhook.id as webhook_id',
        'webhook.name as webhook_name',
      ]),
})

/** A delivery with whom it goes to. */
export type OwnedDelivery = RowOf<typeof ALL_DELIVERIES>

/** The field of the ids of each kind. */
const ID_FIELDS = { ssf_stream: 'stream_id', webhook: 'webhook_id' } as const

/** Whether a search may find deliveries to destinations of this kind. */
function isSought(kind: DestinationKind, search: SearchExpression | undefined): boolean {
  const fields = search === undefined ? [] : clausesOfAll(search).map(({ field }) => field.name)
  const others = DESTINATION_KINDS.filter((other) => other !== kind)
  return hasTypesOf(kind, search) && !others.some((other) => fields.includes(ID_FIELDS[other]))
}

/** The deliveries to destinations of these kinds; of a search, to those that it may find. */
export function isToKinds(kinds: readonly DestinationKind[], search?: SearchExpression) {
  const ids = kinds
    .filter((kind) => isSought(kind, search))
    .map((kind) => sql`select destination_id from ${sql.table(kind)}`)
  if (ids.length === 0) return sql<SqlBool>`false`
  return sql<SqlBool>`delivery.destination_id = any(array(${sql.join(ids, sql` union all `)}))`
}
