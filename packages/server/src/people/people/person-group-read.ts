import { sql, type Expression, type Kysely, type SqlBool } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { RecordList, type RowOf } from '../../platform/search/record-list.ts'

/** Groups of people. */
export const PERSON_GROUP_LIST = new RecordList({
  noun: 'person group',
  table: 'person_group',
  fields: {
    name: 'text',
    updated_at: 'timestamp',
  },
  select: (db: Kysely<Schema>) => db.selectFrom('person_group').selectAll(),
})

/** A group of people as the API shows it. */
export type PersonGroupRecord = RowOf<typeof PERSON_GROUP_LIST>

/** That a group is one of a person, as a condition on groups. */
export function isGroupOf(personId: string): Expression<SqlBool> {
  return sql<SqlBool>`person_group.id in (
    select person_group_id from person_group_member where person_id = ${personId})`
}
