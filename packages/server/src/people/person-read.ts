import { sql, type Kysely } from 'kysely'
import { afterKey, type PageWindow } from '../platform/db/page.ts'
import type { Schema } from '../platform/db/schema.ts'
import type { SearchExpression, SearchField } from '../platform/search/search-field.ts'
import { searchToSql, type SearchColumns } from '../platform/search/search-to-sql.ts'

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

/** A page of people who are not deprovisioned, by ascending id. */
export async function listPeople(
  db: Kysely<Schema>,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<PersonRecord[]> {
  let query = selectPeople(db)
    .where(afterKey(sql.ref('person.id'), window))
    .orderBy('person.id')
    .limit(window.limit)
  if (search !== undefined) query = query.where(searchToSql(search, COLUMNS))
  return query.execute()
}

/** The person with this id, unless deprovisioned; the id is a decimal number within bigint. */
export async function findPerson(
  db: Kysely<Schema>,
  id: string,
): Promise<PersonRecord | undefined> {
  return selectPeople(db).where('person.id', '=', id).executeTakeFirst()
}

function selectPeople(db: Kysely<Schema>) {
  return db
    .selectFrom('person')
    .selectAll('person')
    .select((eb) =>
      eb
        .exists(
          eb
            .selectFrom('device')
            .select('device.id')
            .whereRef('device.owner_person_id', '=', 'person.id')
            .where('device.registered_at', 'is not', null),
        )
        .as('has_registered_device'),
    )
    .where('person.deprovisioned_at', 'is', null)
}

/** A person as the API shows one. */
export type PersonRecord = Awaited<ReturnType<ReturnType<typeof selectPeople>['execute']>>[number]
