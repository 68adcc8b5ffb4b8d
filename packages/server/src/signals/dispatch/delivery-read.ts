/*
 * The log of deliveries as it is read: lists with a search, one delivery with its attempts. The same
 * for everything that is delivered; who may see it is for the routes.
 */
import { sql, type Expression, type Kysely, type SqlBool } from 'kysely'
import { findRecord, listRecords, type CamelCase } from '../../platform/db/record-table.ts'
import type { StoredRecord } from '../../schema/define-table.ts'
import { AppError } from '../../platform/app-error.ts'
import type { PageWindow } from '../../platform/db/page.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import {
  clausesOfAll,
  earliestBefore,
  type SearchClause,
  type SearchExpression,
} from '../../platform/search/search-field.ts'
import { clauseToSql } from '../../platform/search/search-to-sql.ts'
import type { PageSought } from '../../platform/search/page-sought.ts'
import { RecordList, type FieldDeclaration } from '../../platform/search/record-list.ts'
import { EVERY_ATTEMPT } from './attempt-read.ts'
import { wholeToken } from './detached-token.ts'

export const DELIVERY_STATES = ['queued', 'delivered', 'dead', 'discarded'] as const

export type DeliveryState = (typeof DELIVERY_STATES)[number]

export const RECORD_COLUMNS = [
  'id',
  'destination_id',
  'event_id',
  'event_type',
  'subject_key',
  'signing_kid',
  'state',
  'attempt_count',
  'next_attempt_at',
  'claim_expires_at',
  'last_error',
  'txn',
  'created_at',
  'finished_at',
] as const

/** A delivery as the log lists it: without what was sent. */
export type DeliveryRecord = Pick<
  StoredRecord<'delivery'>,
  CamelCase<(typeof RECORD_COLUMNS)[number]>
>

/** A delivery with what was sent. */
export type DeliveryDetails = DeliveryRecord & Pick<StoredRecord<'delivery'>, 'body' | 'token'>

export type AttemptRecord = StoredRecord<'delivery_attempt'>

/** The subject of deliveries about a device. */
const DEVICE_PREFIX = 'device:'

/**
 * How deliveries of some states are found: by an index of their own where it has all of these states, else in the order
 * of the log. The index of delivered ones is in the order in which they were, and of use where they are few.
 */
export function isReadUnless(...indexed: readonly DeliveryState[]) {
  return ({ values }: SearchClause) => {
    if (indexed.some((state) => values.includes(state))) return false
    return values.length === 1 && values[0] === 'delivered' ? 'if many' : true
  }
}

/** What deliveries are searched by, whatever their destination. */
export const DELIVERY_FIELDS = {
  id: 'id',
  event_id: { aliases: ['jti'], type: 'text', operators: [':'], list: true },
  // PostgreSQL knows how many are of each event, in a state or after so many attempts: few are found by summaries of
  // pages, and many in the order of the log.
  event_type: { type: 'text', operators: [':'], list: true, isRead: true },
  state: { type: 'enum', list: true, values: DELIVERY_STATES, isRead: isReadUnless('queued') },
  device_id: { type: 'id', column: isAboutDevice },
  txn: { type: 'text', operators: [':'], list: true },
  attempts: { type: 'integer', column: 'attempt_count', isRead: true },
  created_at: 'timestamp',
} as const satisfies Readonly<Record<string, FieldDeclaration>>

/** How deliveries are found by a time: those queued last before it are likely among those that ended last before it. */
export const DELIVERY_TIMES = {
  timeKey: sql`(delivery.id + 0)`,
  likelyRows: endedBefore,
} as const

/** The deliveries of one destination, oldest first. */
export const DELIVERY_LIST = new RecordList({
  noun: 'delivery',
  table: 'delivery',
  fields: DELIVERY_FIELDS,
  ...DELIVERY_TIMES,
  select: (db: Kysely<Schema>) => db.selectFrom('delivery').select(RECORD_COLUMNS),
})

function endedBefore(clauses: readonly SearchClause[], { isDescending }: PageSought) {
  const before = earliestBefore(clauses)
  if (before === undefined || !isDescending) return undefined
  return sql`delivery.finished_at < ${before.values[0]} order by delivery.finished_at desc`
}

/** As many attempts as are shown of one delivery: the latest. */
export const ATTEMPTS_SHOWN_MAX = 100

/** Which deliveries of a destination a page shows. */
export interface DeliveryLogRequest {
  readonly destinationId: DestinationId
  readonly search: SearchExpression | undefined
  readonly window: PageWindow
}

/** The tables of what has destinations. */
const OWNERS = ['ssf_stream', 'webhook'] as const

/** The types of events of streams are URIs (RFC 8417 section 2.2); those of webhooks are names. */
const URI = /^[a-z][a-z\d+.-]*:/i

/** Whether events of the types that a search is about are such as go to streams, or to webhooks. */
export function hasTypesOf(
  owner: (typeof OWNERS)[number],
  search: SearchExpression | undefined,
): boolean {
  const clauses = search === undefined ? [] : clausesOfAll(search)
  const types = clauses.filter(({ field }) => field.name === 'event_type')
  const isOfOwner = (type: unknown) => URI.test(String(type)) === (owner === 'ssf_stream')
  return types.every(({ values }) => values.some(isOfOwner))
}

/** The deliveries of a destination; none where events of the types that are sought do not go to such ones. */
export function isToDestination({ destinationId, search }: DeliveryLogRequest) {
  const isTo = sql<SqlBool>`delivery.destination_id = ${destinationId}`
  const isOther = OWNERS.filter((owner) => !hasTypesOf(owner, search)).map(
    (owner) =>
      sql<SqlBool>`not exists (select from ${sql.table(owner)} where destination_id = ${destinationId})`,
  )
  return sql<SqlBool>`${sql.join([isTo, ...isOther], sql` and `)}`
}

/** A page of the deliveries of a destination, oldest first. */
export async function listDeliveryLog(
  db: Kysely<Schema>,
  request: DeliveryLogRequest,
): Promise<DeliveryRecord[]> {
  const { search, window } = request
  return DELIVERY_LIST.listPage(db, { search, window, scope: isToDestination(request) })
}

const EVENT_ID_LENGTH_MAX = 255

/**
 * A delivery of a destination by the id of its event (the `jti` of a SET).
 *
 * @throws AppError `not_found`, the same for every text that names none
 */
export async function getDeliveryOfEvent(
  db: Kysely<Schema>,
  destinationId: DestinationId,
  eventId: string,
): Promise<DeliveryDetails> {
  const isReadable = eventId.length <= EVENT_ID_LENGTH_MAX && !eventId.includes('\0')
  const row = isReadable
    ? await findRecord(
        db
          .selectFrom('delivery')
          .select([...RECORD_COLUMNS, 'body', 'token', 'detached_token'])
          .where('event_id', '=', eventId)
          .where('destination_id', '=', destinationId),
      )
    : undefined
  if (row === undefined) throw new AppError('not_found', 'There is no such delivery.')
  return { ...row, token: wholeToken(row) }
}

/** The latest attempts of a delivery in their order, with the number of those before them. */
export async function listLatestAttempts(
  db: Kysely<Schema>,
  deliveryId: string,
): Promise<{ readonly attempts: readonly AttemptRecord[]; readonly earlierCount: number }> {
  const rows = await listRecords(
    db
      .selectFrom(EVERY_ATTEMPT.as('attempt'))
      .selectAll()
      .where('delivery_id', '=', deliveryId)
      .orderBy('id', 'desc')
      .limit(ATTEMPTS_SHOWN_MAX),
  )
  if (rows.length < ATTEMPTS_SHOWN_MAX) return { attempts: rows.reverse(), earlierCount: 0 }
  const { count } = await db
    .selectFrom(EVERY_ATTEMPT.as('attempt'))
    .select((select) => select.fn.countAll<string>().as('count'))
    .where('delivery_id', '=', deliveryId)
    .executeTakeFirstOrThrow()
  return { attempts: rows.reverse(), earlierCount: Number(count) - rows.length }
}

/** The device that a delivery is about, if it is about one. */
export function deviceIdOf({ subjectKey: subject }: Pick<DeliveryRecord, 'subjectKey'>) {
  return subject?.startsWith(DEVICE_PREFIX) === true ? subject.slice(DEVICE_PREFIX.length) : null
}

/** By the key that is indexed; a text that is no id is the device of none. */
export function isAboutDevice(clause: SearchClause): Expression<SqlBool> {
  const [first, ...others] = clause.values.map((value) => DEVICE_PREFIX + String(value))
  if (first === undefined) return sql<SqlBool>`false`
  const values = [first, ...others] as const
  const field = { ...clause.field, type: 'text' } as const
  return clauseToSql(sql.ref('delivery.subject_key'), { ...clause, field, values })
}
