import { sql, type Expression, type Kysely, type RawBuilder, type SqlBool } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { RecordList, type RowOf } from '../../platform/search/record-list.ts'

const PEOPLE = {
  table: 'person',
  fields: {
    id: 'id',
    email: 'text',
    name: 'text',
    last_authenticated_at: 'timestamp',
    updated_at: 'timestamp',
  },
  select: selectPeople,
} as const

/** People who are not deprovisioned. */
export const PERSON_LIST = new RecordList({
  ...PEOPLE,
  noun: 'person',
  scope: sql`person.deprovisioned_at is null`,
})

/** People whom the identity provider has switched off or deleted. */
export const DEPROVISIONED_PERSON_LIST = new RecordList({
  ...PEOPLE,
  noun: 'deprovisioned person',
  scope: sql`person.deprovisioned_at is not null`,
})

/** Whether the person whom a column names is deprovisioned; not where it names nobody. */
export function isDeprovisioned(personIdColumn: string): RawBuilder<boolean> {
  // Not "exists": for it, all people there are would be read and hashed.
  return sql<boolean>`coalesce((
    select person.deprovisioned_at is not null from person
    where person.id = ${sql.ref(personIdColumn)}), false)`
}

/** That a person belongs to a group, as a condition on people. */
export function isInGroup(personGroupId: string): Expression<SqlBool> {
  return sql<SqlBool>`person.id in (
    select person_id from person_group_member where person_group_id = ${personGroupId})`
}

function selectPeople(db: Kysely<Schema>) {
  return db
    .selectFrom('person')
    .selectAll('person')
    .select(
      // Not "exists": for it, all devices there are would be read and hashed.
      sql<boolean>`coalesce((
        select true from device
        where device.owner_person_id = person.id and device.registered_at is not null
        limit 1), false)`.as('has_registered_device'),
    )
}

/** A person as the API shows one. */
export type PersonRecord = RowOf<typeof PERSON_LIST>
