/*
 * What payloads tell of the records that events are about: one statement for all records of a kind.
 */
import { sql, type Kysely } from 'kysely'
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

type Read<Row> = (db: Kysely<Schema>, ids: readonly string[]) => Promise<Row[]>

const person = (alias: 'p' | 'o') =>
  sql.raw(
    `case when ${alias}.id is null then null else json_build_object('id', ${alias}.id::text, 'name', ${alias}.name, 'email', ${alias}.email) end`,
  )

export const listEventDevices: Read<EventDevice> = async (db, ids) => {
  const { rows } = await sql<EventDevice>`
    select d.id, d.name, d.auth_state as "authState", ${person('o')} as owner
    from device d left join person o on o.id = d.owner_person_id
    where d.id = any(${ids}::bigint[])`.execute(db)
  return rows
}

export const listEventPeople: Read<EventPerson> = async (db, ids) => {
  const { rows } = await sql<EventPerson>`
    select id, name, email from person where id = any(${ids}::bigint[])`.execute(db)
  return rows
}

export const listEventIssues: Read<EventIssue> = async (db, ids) => {
  const { rows } = await sql<EventIssue>`
    select i.id, i.title, ${person('p')} as person,
      case when d.id is null then null
        else json_build_object('id', d.id::text, 'name', d.name) end as device,
      json_build_object('id', c.id::text, 'name', c.name, 'tags', coalesce((
        select json_agg(t.name order by t.name) from posture_check_tag ct
        join check_tag t on t.id = ct.tag_id where ct.check_id = c.id), '[]')) as check
    from issue i join posture_check c on c.id = i.check_id
    left join device d on d.id = i.device_id left join person p on p.id = i.person_id
    where i.id = any(${ids}::bigint[])`.execute(db)
  return rows
}

export const listEventAdmins: Read<EventAdmin> = async (db, ids) => {
  const { rows } = await sql<EventAdmin>`
    select id, first_name as "firstName", last_name as "lastName", email, access
    from admin_user where id = any(${ids}::bigint[])`.execute(db)
  return rows
}

export const listEventExemptionRequests: Read<EventRequest> = async (db, ids) => {
  const { rows } = await sql<EventRequest>`
    select r.id, r.requester_message as message, ${person('p')} as requester,
      json_build_object('id', d.id::text, 'name', d.name) as device,
      array(select issue_id::text from exemption_request_issue
        where exemption_request_id = r.id order by issue_id) as "issueIds"
    from exemption_request r join device d on d.id = r.device_id
    left join person p on p.id = r.requester_person_id
    where r.id = any(${ids}::bigint[])`.execute(db)
  return rows
}

export const listEventRegistrationRequests: Read<EventRequest> = async (db, ids) => {
  const { rows } = await sql<EventRequest>`
    select r.id, r.requester_message as message, ${person('p')} as requester,
      json_build_object('id', d.id::text, 'name', d.name) as device, '{}'::text[] as "issueIds"
    from registration_request r join device d on d.id = r.device_id
    left join person p on p.id = r.requester_person_id
    where r.id = any(${ids}::bigint[])`.execute(db)
  return rows
}

export const listEventWebhooks: Read<EventWebhook> = async (db, ids) => {
  const { rows } = await sql<EventWebhook>`
    select id, name, url from webhook where id = any(${ids}::bigint[])`.execute(db)
  return rows
}
