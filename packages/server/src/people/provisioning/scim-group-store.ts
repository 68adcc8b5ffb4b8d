import { sql, type Expression, type Kysely, type SqlBool, type Transaction } from 'kysely'
import type { NewRecord, RecordChanges } from '../../schema/define-table.ts'
import { findRecord, listRecords, takeRecord } from '../../platform/db/record-table.ts'
import type { Schema } from '../../schema/schema.ts'
import type { ScimColumns } from './scim-condition-read.ts'
import type { GroupMember, PersonGroup } from './scim-group.ts'
import type { ScimWindow } from './scim-user-store.ts'
import { rowsOf } from '../../schema/row-store.ts'

const groups = rowsOf('person_group', 'person group')

/** Where the attributes of groups live. */
export const toGroupColumns = (scimUrl: string): ScimColumns => ({
  columns: {
    id: { expression: sql.ref('person_group.id'), isId: true },
    externalId: { expression: sql.ref('person_group.external_id') },
    displayName: { expression: sql.ref('person_group.name') },
    'meta.resourceType': { expression: sql`text 'Group'` },
    'meta.created': { expression: sql.ref('person_group.created_at') },
    'meta.lastModified': { expression: sql.ref('person_group.updated_at') },
  },
  collections: {
    members: {
      columns: {
        value: { expression: sql`membership.person_id`, isId: true },
        $ref: { expression: sql`concat(${`${scimUrl}/Users/`}::text, membership.person_id)` },
        display: { expression: sql`person.name` },
        type: { expression: sql`text 'User'` },
      },
      exists: (condition) => sql<SqlBool>`exists (
        select from person_group_member membership
          join person on person.id = membership.person_id
        where membership.person_group_id = person_group.id and ${condition})`,
    },
  },
})

/** The groups that meet a condition by ascending id, and how many there are beyond the window. */
export async function listGroups(
  db: Kysely<Schema>,
  condition: Expression<SqlBool>,
  { startIndex, count }: ScimWindow,
): Promise<{ total: number; rows: PersonGroup[] }> {
  const matching = db.selectFrom('person_group').where(condition)
  const rows = await listRecords(
    matching
      .selectAll()
      .orderBy('id')
      .offset(startIndex - 1)
      .limit(count),
  )
  const { total } = await matching
    .select(({ fn }) => fn.countAll<string>().as('total'))
    .executeTakeFirstOrThrow()
  return { total: Number(total), rows }
}

export const findGroup = groups.find

/** The group with this id, locked until the transaction ends. */
export const findGroupForUpdate = groups.findForUpdate

/** Inserts a group; undefined when another has its name. */
export async function insertGroup(
  tx: Transaction<Schema>,
  values: NewRecord<'person_group'>,
): Promise<PersonGroup | undefined> {
  return findRecord(
    tx
      .insertInto('person_group')
      .values(groups.toInsert(values))
      .onConflict((conflict) => conflict.doNothing())
      .returningAll(),
  )
}

/** Changes a group and raises its revision. */
export async function updateGroup(
  tx: Transaction<Schema>,
  id: string,
  values: RecordChanges<'person_group'>,
): Promise<PersonGroup> {
  return takeRecord(
    tx
      .updateTable('person_group')
      .set({ ...groups.toUpdate(values), revision: sql`revision + 1` })
      .where('id', '=', id)
      .returningAll(),
  )
}

/** Deletes a group with its memberships. */
export const deleteGroupRow = groups.remove

/** Whether a group other than `exceptId` has this name in any case. */
export async function isGroupNameTaken(
  tx: Transaction<Schema>,
  name: string,
  exceptId: string | undefined,
): Promise<boolean> {
  const row = await tx
    .selectFrom('person_group')
    .select('id')
    .where(sql`lower(name)`, '=', sql`lower(${name})`)
    .where(exceptId === undefined ? sql<SqlBool>`true` : sql<SqlBool>`id <> ${exceptId}`)
    .executeTakeFirst()
  return row !== undefined
}

/** The members of each of these groups by ascending id. */
export async function listMembersOfGroups(
  db: Kysely<Schema>,
  groupIds: readonly string[],
): Promise<Map<string, GroupMember[]>> {
  if (groupIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('person_group_member')
    .innerJoin('person', 'person.id', 'person_group_member.person_id')
    .select(['person_group_member.person_group_id', 'person.id', 'person.name'])
    .where('person_group_member.person_group_id', 'in', groupIds)
    .orderBy('person.id')
    .execute()
  return Map.groupBy(rows, (row) => row.person_group_id)
}

/** The ids of the members of a group: of all, or of those among `among`. */
export async function listMemberIds(
  tx: Transaction<Schema>,
  groupId: string,
  among: readonly string[] | undefined,
): Promise<string[]> {
  const rows = await tx
    .selectFrom('person_group_member')
    .select('person_id')
    .where('person_group_id', '=', groupId)
    .where(
      among === undefined
        ? sql<SqlBool>`true`
        : sql<SqlBool>`person_id = any(${[...among]}::bigint[])`,
    )
    .execute()
  return rows.map((row) => row.person_id)
}

/** Which of these ids are those of users. */
export async function listExistingUserIds(
  tx: Transaction<Schema>,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await tx
    .selectFrom('person')
    .select('id')
    .where(sql<SqlBool>`id = any(${[...ids]}::bigint[])`)
    .where('provisioning_ended_at', 'is', null)
    // Nobody may be deleted before the membership is there.
    .forShare()
    .execute()
  return rows.map(({ id }) => id)
}

export async function insertMembers(
  tx: Transaction<Schema>,
  groupId: string,
  personIds: readonly string[],
  at: Date,
): Promise<void> {
  await sql`insert into person_group_member (person_group_id, person_id, added_at)
    select ${groupId}, person_id, ${at} from unnest(${[...personIds]}::bigint[]) person_id
    on conflict do nothing`.execute(tx)
}

export async function deleteMembers(
  tx: Transaction<Schema>,
  groupId: string,
  personIds: readonly string[],
): Promise<void> {
  await tx
    .deleteFrom('person_group_member')
    .where('person_group_id', '=', groupId)
    .where(sql<SqlBool>`person_id = any(${[...personIds]}::bigint[])`)
    .execute()
}
