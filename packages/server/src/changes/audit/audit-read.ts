import { sql, type Kysely, type SqlBool } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { SearchClause } from '../../platform/search/search-field.ts'
import { clauseToSql } from '../../platform/search/search-to-sql.ts'
import { RecordList } from '../../platform/search/record-list.ts'
import { hasDescription } from './audit-text-read.ts'

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

/** The audit log in the order of the chain. */
export const AUDIT_LIST = new RecordList({
  noun: 'audit log entry',
  table: 'audit_entry',
  key: 'sequence',
  fields: {
    timestamp: { type: 'timestamp', column: 'recorded_at' },
    actor_name: { type: 'text', column: isActorName },
    description: { type: 'text', column: hasDescription },
  },
  select: (db: Kysely<Schema>) => db.selectFrom('audit_entry').selectAll(),
  // Of the few names of actors PostgreSQL does not know how many entries they have.
  timeKey: sql`(audit_entry.sequence - 0)`,
})
