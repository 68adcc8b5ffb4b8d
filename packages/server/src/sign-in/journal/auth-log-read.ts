import { sql, type Kysely, type Selectable } from 'kysely'
import type { PageWindow } from '../../platform/db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import type { AuthLogSessionTable } from '../../schema/tables/sign-in-tables.ts'
import type { SearchExpression, SearchField } from '../../platform/search/search-field.ts'
import { foreignKeyField, type SearchColumns } from '../../platform/search/search-to-sql.ts'
import { readPage, type SearchedList } from '../../platform/search/searched-list.ts'

/** What sign-ins can be searched by. */
export const AUTH_LOG_SEARCH_FIELDS: readonly SearchField[] = [
  { name: 'timestamp', type: 'timestamp', operators: ['<', '>'] },
  { name: 'city', type: 'text', operators: [':', '~'] },
  { name: 'country', type: 'text', operators: [':', '~'] },
  { name: 'ip_address', type: 'text', operators: [':', '~'] },
  { name: 'agent_version', type: 'text', operators: [':', '~'] },
  { name: 'browser_name', type: 'text', operators: [':', '~'] },
  { name: 'person_name', type: 'text', operators: [':', '~'] },
  { name: 'person_email', type: 'text', operators: [':', '~'] },
  { name: 'person_id', type: 'id', operators: [':', '~'] },
  { name: 'device_id', type: 'id', operators: [':', '~'] },
  { name: 'result', type: 'enum', operators: [':'], values: ['Success', 'Fail'] },
  { name: 'updated_at', type: 'timestamp', operators: ['<', '>'] },
]

const COLUMNS: SearchColumns = {
  timestamp: sql.ref('auth_log_session.started_at'),
  city: sql.ref('auth_log_session.city'),
  country: sql.ref('auth_log_session.country'),
  ip_address: sql.ref('auth_log_session.ip_address'),
  agent_version: sql.ref('auth_log_session.agent_version'),
  browser_name: sql.ref('auth_log_session.browser_name'),
  person_name: sql.ref('auth_log_session.person_name'),
  person_email: sql.ref('auth_log_session.person_email'),
  person_id: foreignKeyField({ by: 'auth_log_session.person_id', table: 'person' }),
  device_id: foreignKeyField({ by: 'auth_log_session.device_id', table: 'device' }),
  result: sql.ref('auth_log_session.result'),
  updated_at: sql.ref('auth_log_session.updated_at'),
}

/** Where the fields of the list are. */
export const AUTH_LOG_LIST: SearchedList = {
  table: 'auth_log_session',
  key: 'id',
  fields: AUTH_LOG_SEARCH_FIELDS,
  columns: COLUMNS,
}

/** A sign-in session as the API shows it. */
export type AuthLogRecord = Selectable<AuthLogSessionTable>

/** A page of sign-in sessions by ascending id. */
export async function listAuthLogs(
  db: Kysely<Schema>,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<AuthLogRecord[]> {
  return readPage(db, AUTH_LOG_LIST, { search, window }, (source, isOnPage) =>
    source
      .selectFrom('auth_log_session')
      .selectAll()
      .where(isOnPage)
      .orderBy('id')
      .limit(window.limit)
      .execute(),
  )
}

/** The sign-in session with this id; the id is a decimal number within bigint. */
export async function findAuthLog(
  db: Kysely<Schema>,
  id: string,
): Promise<AuthLogRecord | undefined> {
  return db.selectFrom('auth_log_session').selectAll().where('id', '=', id).executeTakeFirst()
}
