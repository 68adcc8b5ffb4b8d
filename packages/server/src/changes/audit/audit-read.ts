import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { fewTextsField } from '../../platform/search/text-fields.ts'
import { earliestBefore, type SearchClause } from '../../platform/search/search-field.ts'
import type { PageSought } from '../../platform/search/page-sought.ts'
import { RecordList } from '../../platform/search/record-list.ts'
import { hasDescription, inLastBlocks } from './audit-text-read.ts'

/** The audit log in the order of its ids, which is not always that of the chain. */
export const AUDIT_LIST = new RecordList({
  noun: 'audit log entry',
  table: 'audit_entry',
  key: 'sequence',
  fields: {
    timestamp: { type: 'timestamp', column: 'recorded_at' },
    actor_name: {
      type: 'text',
      column: fewTextsField({ table: 'audit_entry', column: 'actor_name' }),
    },
    description: { type: 'text', column: hasDescription },
  },
  select: (db: Kysely<Schema>) => db.selectFrom('audit_entry').selectAll(),
  likelyRows: toLikelyEntries,
  // Of the few names of actors PostgreSQL does not know how many entries they have.
  timeKey: sql`(audit_entry.sequence - 0)`,
})

/** The last entries with the words of a description, or those that were recorded last before a time. */
function toLikelyEntries(clauses: readonly SearchClause[], page: PageSought) {
  const inBlocks = inLastBlocks(clauses, page)
  const before = earliestBefore(clauses)
  if (inBlocks !== undefined || before === undefined || !page.isDescending) return inBlocks
  return sql`audit_entry.recorded_at < ${before.values[0]} order by audit_entry.recorded_at desc`
}
