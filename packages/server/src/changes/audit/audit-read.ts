import { sql, type Kysely, type SqlBool } from 'kysely'
import type { PageWindow } from '../../platform/db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import type {
  SearchClause,
  SearchExpression,
  SearchField,
} from '../../platform/search/search-field.ts'
import { clauseToSql, type SearchColumns } from '../../platform/search/search-to-sql.ts'
import { readPage, type SearchedList } from '../../platform/search/searched-list.ts'
import type { AuditEntryRow } from './audit-store.ts'

/** What audit entries can be searched by. */
export const AUDIT_SEARCH_FIELDS: readonly SearchField[] = [
  { name: 'timestamp', type: 'timestamp', operators: ['<', '>'] },
  { name: 'actor_name', type: 'text', operators: [':', '~'] },
  { name: 'description', type: 'text', operators: [':', '~'] },
]

const COLUMNS: SearchColumns = {
  timestamp: sql.ref('audit_entry.recorded_at'),
  actor_name: isActorName,
  description: sql.ref('audit_entry.description'),
}

/**
 * The beginning of a name is indexed: a whole one could be larger than an index entry may be. A million
 * entries have few names, so a part is looked for in these, taken from the index one after the other.
 */
function isActorName(clause: SearchClause) {
  const isMatch = clauseToSql(sql.ref('audit_entry.actor_name'), clause)
  if (clause.operator === ':') {
    return sql<SqlBool>`(left(audit_entry.actor_name, 64) = left(${clause.values[0]}, 64) and ${isMatch})`
  }
  return sql<SqlBool>`(left(audit_entry.actor_name, 64) = any(array(
    with recursive actor as (
      (select left(actor_name, 64) as beginning from audit_entry order by 1 limit 1)
      union all
      select (
        select left(actor_name, 64) from audit_entry
        where left(actor_name, 64) > actor.beginning order by 1 limit 1
      ) from actor where actor.beginning is not null
    )
    select beginning from actor
    where ${clauseToSql(sql.ref('beginning'), clause)} or length(beginning) = 64
  )) and ${isMatch})`
}

/** Where the fields of the list are. */
export const AUDIT_LIST: SearchedList = {
  table: 'audit_entry',
  key: 'sequence',
  fields: AUDIT_SEARCH_FIELDS,
  columns: COLUMNS,
}

/** A page of audit entries in the order of the chain. */
export async function listAuditEntries(
  db: Kysely<Schema>,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<AuditEntryRow[]> {
  return readPage(db, AUDIT_LIST, { search, window }, (source, isOnPage) =>
    source
      .selectFrom('audit_entry')
      .selectAll()
      .where(isOnPage)
      .orderBy('sequence')
      .limit(window.limit)
      .execute(),
  )
}

/** The entry at this place of the chain, which is a decimal number within bigint. */
export async function findAuditEntry(
  db: Kysely<Schema>,
  sequence: string,
): Promise<AuditEntryRow | undefined> {
  return db
    .selectFrom('audit_entry')
    .selectAll()
    .where('sequence', '=', sequence)
    .executeTakeFirst()
}
