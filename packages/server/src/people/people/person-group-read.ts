import { sql, type Expression, type Kysely, type Selectable, type SqlBool } from 'kysely'
import type { PageWindow } from '../../platform/db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import type { PersonGroupTable } from '../../schema/tables/person-tables.ts'
import type { SearchExpression, SearchField } from '../../platform/search/search-field.ts'
import type { SearchColumns } from '../../platform/search/search-to-sql.ts'
import { readPage, type SearchedList } from '../../platform/search/searched-list.ts'

export const PERSON_GROUP_SEARCH_FIELDS: readonly SearchField[] = [
  { name: 'name', type: 'text', operators: [':', '~'] },
  { name: 'updated_at', type: 'timestamp', operators: ['<', '>'] },
]

const COLUMNS: SearchColumns = {
  name: sql.ref('person_group.name'),
  updated_at: sql.ref('person_group.updated_at'),
}

/** Where the fields of the list are. */
export const PERSON_GROUP_LIST: SearchedList = {
  table: 'person_group',
  key: 'id',
  fields: PERSON_GROUP_SEARCH_FIELDS,
  columns: COLUMNS,
}

/** A group of people as the API shows it. */
export type PersonGroupRecord = Selectable<PersonGroupTable>

/** A page of groups by ascending id. */
export async function listPersonGroups(
  db: Kysely<Schema>,
  search: SearchExpression | undefined,
  window: PageWindow,
  condition: Expression<SqlBool> = sql<SqlBool>`true`,
): Promise<PersonGroupRecord[]> {
  return readPage(db, PERSON_GROUP_LIST, { search, window, scope: condition }, (source, isOnPage) =>
    source
      .selectFrom('person_group')
      .selectAll()
      .where(isOnPage)
      .orderBy('person_group.id')
      .limit(window.limit)
      .execute(),
  )
}

/** The same of the groups that a person belongs to. */
export async function listGroupsOfPerson(
  db: Kysely<Schema>,
  personId: string,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<PersonGroupRecord[]> {
  const isGroupOfPerson = sql<SqlBool>`person_group.id in (
    select person_group_id from person_group_member where person_id = ${personId})`
  return listPersonGroups(db, search, window, isGroupOfPerson)
}

/** The group with this id; the id is a decimal number within bigint. */
export async function findPersonGroup(
  db: Kysely<Schema>,
  id: string,
): Promise<PersonGroupRecord | undefined> {
  return db.selectFrom('person_group').selectAll().where('id', '=', id).executeTakeFirst()
}
