import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { RecordList } from '../../platform/search/record-list.ts'

/** Admins. */
export const ADMIN_LIST = new RecordList({
  noun: 'admin',
  table: 'admin_user',
  fields: {
    first_name: 'text',
    last_name: 'text',
    email: 'text',
    created_at: 'timestamp',
  },
  select: (db: Kysely<Schema>) => db.selectFrom('admin_user').selectAll(),
})
