import { sql, type Kysely } from 'kysely'
import type { PageWindow } from '../../platform/db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import type { SearchExpression, SearchField } from '../../platform/search/search-field.ts'
import type { SearchColumns } from '../../platform/search/search-to-sql.ts'
import { readPage, type SearchedList } from '../../platform/search/searched-list.ts'
import type { Admin } from './admin-store.ts'

/** What admins can be searched by. */
export const ADMIN_SEARCH_FIELDS: readonly SearchField[] = [
  { name: 'first_name', type: 'text', operators: [':', '~'] },
  { name: 'last_name', type: 'text', operators: [':', '~'] },
  { name: 'email', type: 'text', operators: [':', '~'] },
  { name: 'created_at', type: 'timestamp', operators: ['<', '>'] },
]

const COLUMNS: SearchColumns = {
  first_name: sql.ref('admin_user.first_name'),
  last_name: sql.ref('admin_user.last_name'),
  email: sql.ref('admin_user.email'),
  created_at: sql.ref('admin_user.created_at'),
}

/** Where the fields of the list are. */
export const ADMIN_LIST: SearchedList = {
  table: 'admin_user',
  key: 'id',
  fields: ADMIN_SEARCH_FIELDS,
  columns: COLUMNS,
}

/** A page of admins by ascending id. */
export async function listAdmins(
  db: Kysely<Schema>,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<Admin[]> {
  return readPage(db, ADMIN_LIST, { search, window }, (source, isOnPage) =>
    source
      .selectFrom('admin_user')
      .selectAll()
      .where(isOnPage)
      .orderBy('id')
      .limit(window.limit)
      .execute(),
  )
}

/** The admin with this id; the id is a decimal number within bigint. */
export async function findAdmin(db: Kysely<Schema>, id: string): Promise<Admin | undefined> {
  return db.selectFrom('admin_user').selectAll().where('id', '=', id).executeTakeFirst()
}
