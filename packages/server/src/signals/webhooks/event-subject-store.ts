/*
 * What payloads say of the records that events are about: one statement for all records of a kind. SQL only;
 * which records an event is about is webhook-publisher.ts's.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely'
import { elementsOf } from '../../platform/db/planned-once.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import type { AuthState } from '../../schema/status-values.ts'

/** A person as payloads show it. */
export interface EventPerson {
  readonly id: string
  readonly name: string
  readonly email: string
}

/** A device with its owner. */
export interface EventDevice {
  readonly id: string
  readonly name: string
  readonly authState: AuthState
  readonly owner: EventPerson | null
}

/** An issue of a device or a person, with its check. */
export interface EventIssue {
  readonly id: string
  readonly title: string
  readonly device: { readonly id: string; readonly name: string } | null
  readonly person: EventPerson | null
  readonly check: { readonly id: string; readonly name: string; readonly tags: readonly string[] }
}

/** An admin. */
export interface EventAdmin {
  readonly id: string
  readonly firstName: string
  readonly lastName: string
  readonly email: string
  readonly access: string
}

/** What a person asked for. */
export interface EventRequest {
  readonly id: string
  readonly message: string
  readonly device: { readonly id: string; readonly name: string }
  readonly requester: EventPerson | null
  /** Of exemption requests; empty otherwise. */
  readonly issueIds: readonly string[]
}

/** A webhook. */
export interface EventWebhook {
  readonly id: string
  readonly name: string
  readonly url: string
}

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

/** A kind of record that events are about. */
export type SubjectKind = keyof EventSubjects
export type SubjectOf<Kind extends SubjectKind> =
  EventSubjects[Kind] extends ReadonlyMap<string, infer Record> ? Record : never

type Ids = readonly string[]

const person = (alias: 'p' | 'o') =>
  sql.raw(
    `case when ${alias}.id is null then null else json_build_object('id', ${alias}.id::text, 'name', ${alias}.name, 'email', ${alias}.email) end`,
  )

const devices = (ids: Ids) => sql<EventDevice>`
    select d.id::text, d.name, d.auth_state as "authState", ${person('o')} as owner
    from device d left join person o on o.id = d.owner_person_id
    where d.id = any(${elementsOf(ids, 'bigint')})`

const people = (ids: Ids) => sql<EventPerson>`
    select id::text, name, email from person where id = any(${elementsOf(ids, 'bigint')})`

const issues = (ids: Ids) => sql<EventIssue>`
    select i.id::text, i.title, ${person('p')} as person,
      case when d.id is null then null
        else json_build_object('id', d.id::text, 'name', d.name) end as device,
      json_build_object('id', c.id::text, 'name', c.name, 'tags', coalesce((
        select json_agg(t.name order by t.name) from posture_check_tag ct
        join check_tag t on t.id = ct.tag_id where ct.check_id = c.id), '[]')) as check
    from issue i join posture_check c on c.id = i.check_id
    left join device d on d.id = i.device_id left join person p on p.id = i.person_id
    where i.id = any(${elementsOf(ids, 'bigint')})`

const admins = (ids: Ids) => sql<EventAdmin>`
    select id::text, first_name as "firstName", last_name as "lastName", email, access
    from admin_user where id = any(${elementsOf(ids, 'bigint')})`

const requests = (table: 'exemption_request' | 'registration_request', issueIds: string) => {
  return (ids: Ids) => sql<EventRequest>`
    select r.id::text, r.requester_message as message, ${person('p')} as requester,
      json_build_object('id', d.id::text, 'name', d.name) as device,
      ${sql.raw(issueIds)} as "issueIds"
    from ${sql.table(table)} r join device d on d.id = r.device_id
    left join person p on p.id = r.requester_person_id
    where r.id = any(${elementsOf(ids, 'bigint')})`
}

const exemptionRequests = requests(
  'exemption_request',
  `array(select issue_id::text from exemption_request_issue
    where exemption_request_id = r.id order by issue_id)`,
)

const registrationRequests = requests('registration_request', `'{}'::text[]`)

const webhooks = (ids: Ids) => sql<EventWebhook>`
    select id::text, name, url from webhook where id = any(${elementsOf(ids, 'bigint')})`

const STATEMENTS = {
  devices,
  people,
  issues,
  admins,
  exemptionRequests,
  registrationRequests,
  webhooks,
} satisfies { [Kind in SubjectKind]: (ids: Ids) => RawBuilder<SubjectOf<Kind>> }
const SUBJECT_KINDS = Object.keys(STATEMENTS) as SubjectKind[]

/** The records of a kind that may have to be told of, and the types of events that would. */
export interface AskedSubjects {
  readonly ids: ReadonlySet<string>
  readonly eventTypes: ReadonlySet<string>
}

/** What any webhook asks for, also one that is off: those events are kept for it. And what there is to tell of it. */
interface SubscribedSubjects {
  readonly subscribed: ReadonlySet<string>
  /** Those that are on and ask for something of these types. */
  readonly destinationIds: readonly DestinationId[]
  /** Of kinds whose events nobody asks for there are none. */
  readonly subjects: EventSubjects
}

/** Reads what webhooks ask for with the records that events of these types are about, in one statement. */
export async function findSubscribedSubjects(
  db: Kysely<Schema>,
  asked: ReadonlyMap<SubjectKind, AskedSubjects>,
  types: readonly string[],
): Promise<SubscribedSubjects> {
  // In one order, so that there are few texts.
  const kinds = SUBJECT_KINDS.filter((kind) => asked.has(kind))
  const columns = kinds.map((kind) => {
    const { ids = [], eventTypes = [] } = asked.get(kind) ?? {}
    return sql`, case when exists (select from webhook where events && ${[...eventTypes]}::text[]) then (
        select json_agg(told) from (${STATEMENTS[kind]([...ids])}) told) end as ${sql.ref(kind)}`
  })
  type Row = { readonly [Kind in SubjectKind]?: readonly SubjectOf<Kind>[] | null }
  type Webhooks = {
    readonly subscribed: readonly string[]
    destinationIds: readonly DestinationId[]
  }
  const { rows } = await sql<Row & Webhooks>`
    select array(select distinct unnest(events) from webhook) as subscribed,
      array(select destination_id::text from webhook
        where enabled and events && ${types}::text[]) as "destinationIds"
      ${sql.join(columns, sql``)}`.execute(db)
  const [row] = rows
  return {
    subscribed: new Set(row?.subscribed),
    destinationIds: row?.destinationIds ?? [],
    subjects: {
      devices: byId(row?.devices),
      people: byId(row?.people),
      issues: byId(row?.issues),
      admins: byId(row?.admins),
      exemptionRequests: byId(row?.exemptionRequests),
      registrationRequests: byId(row?.registrationRequests),
      webhooks: byId(row?.webhooks),
    },
  }
}

function byId<Row extends { readonly id: string }>(
  records: readonly Row[] | null | undefined,
): ReadonlyMap<string, Row> {
  return new Map((records ?? []).map((record) => [record.id, record]))
}
