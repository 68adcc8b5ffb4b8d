import { sql, type Expression, type Kysely, type SqlBool } from 'kysely'
import type { PageWindow } from '../../platform/db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import type { SearchExpression, SearchField } from '../../platform/search/search-field.ts'
import type { SearchColumns } from '../../platform/search/search-to-sql.ts'
import { readPage, type SearchedList } from '../../platform/search/searched-list.ts'

/** What people can be searched by. */
export const PERSON_SEARCH_FIELDS: readonly SearchField[] = [
  { name: 'id', type: 'id', operators: [':'], list: true },
  { name: 'email', type: 'text', operators: [':', '~'] },
  { name: 'name', type: 'text', operators: [':', '~'] },
  { name: 'last_authenticated_at', type: 'timestamp', operators: ['<', '>'] },
  { name: 'updated_at', type: 'timestamp', operators: ['<', '>'] },
]

const COLUMNS: SearchColumns = {
  id: sql.ref('person.id'),
  email: sql.ref('person.email'),
  name: sql.ref('person.name'),
  last_authenticated_at: sql.ref('person.last_authenticated_at'),
  updated_at: sql.ref('person.updated_at'),
}

/** Where the fields of the list are. */
export const PERSON_LIST: SearchedList = {
  table: 'person',
  key: 'id',
  fields: PERSON_SEARCH_FIELDS,
  columns: COLUMNS,
}

const IS_LIVE = sql<SqlBool>`person.deprovisioned_at is null`
const IS_DEPROVISIONED = sql<SqlBool>`person.deprovisioned_at is not null`

/** A page of people who are not deprovisioned, by ascending id. */
export async function listPeople(
  db: Kysely<Schema>,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<PersonRecord[]> {
  return listPeopleWhere(db, IS_LIVE, search, window)
}

/** The same of the members of a group. */
export async function listPeopleOfGroup(
  db: Kysely<Schema>,
  personGroupId: string,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<PersonRecord[]> {
  const isMember = sql<SqlBool>`person.id in (
    select person_id from person_group_member where person_group_id = ${personGroupId})`
  return listPeopleWhere(db, sql<SqlBool>`${IS_LIVE} and ${isMember}`, search, window)
}

/** A page of deprovisioned people by ascending id. */
export async function listDeprovisionedPeople(
  db: Kysely<Schema>,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<PersonRecord[]> {
  return listPeopleWhere(db, IS_DEPROVISIONED, search, window)
}

async function listPeopleWhere(
  db: Kysely<Schema>,
  condition: Expression<SqlBool>,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<PersonRecord[]> {
  return readPage(db, PERSON_LIST, { search, window, scope: condition }, (source, isOnPage) =>
    selectPeople(source).where(isOnPage).orderBy('person.id').limit(window.limit).execute(),
  )
}

/** The person with this id, unless deprovisioned; the id is a decimal number within bigint. */
export async function findPerson(
  db: Kysely<Schema>,
  id: string,
): Promise<PersonRecord | undefined> {
  return selectPeople(db).where('person.id', '=', id).where(IS_LIVE).executeTakeFirst()
}

/** The people with these ids who are not deprovisioned. */
export async function listPeopleWithIds(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<PersonRecord[]> {
  return selectPeople(db).where('person.id', 'in', ids).where(IS_LIVE).execute()
}

/** The deprovisioned person with this id; the id is a decimal number within bigint. */
export async function findDeprovisionedPerson(
  db: Kysely<Schema>,
  id: string,
): Promise<PersonRecord | undefined> {
  return selectPeople(db).where('person.id', '=', id).where(IS_DEPROVISIONED).executeTakeFirst()
}

function selectPeople(db: Kysely<Schema>) {
  return db
    .selectFrom('person')
    .selectAll('person')
    .select(
      // Not "exists": for it, all devices there are would be read and hashed.
      sql<boolean>`coalesce((
        select true from device
        where device.owner_person_id = person.id and device.registered_at is not null
        limit 1), false)`.as('has_registered_device'),
    )
}

/** A person as the API shows one. */
export type PersonRecord = Awaited<ReturnType<ReturnType<typeof selectPeople>['execute']>>[number]
