import type { Kysely } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'
import { RecordList } from '../../../platform/search/record-list.ts'

/** Drafts of custom checks. */
export const DRAFT_LIST = new RecordList({
  noun: 'custom check draft',
  table: 'custom_check_draft',
  fields: {
    name: 'text',
    slug: 'text',
    id: { type: 'id', operators: [':', '~'] },
    created_at: 'timestamp',
    updated_at: 'timestamp',
  },
  select: (db: Kysely<Schema>) => db.selectFrom('custom_check_draft').selectAll(),
})
