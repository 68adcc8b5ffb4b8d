import { sql, type Expression, type Kysely, type SqlBool, type Transaction } from 'kysely'
import { findRecord, listRecords } from '../../platform/db/record-table.ts'
import type { Schema } from '../../schema/schema.ts'
import { hasEmail, type Person } from '../people/person-store.ts'
import type { ScimColumns } from './scim-condition-read.ts'
import type { UserGroup } from './scim-user.ts'

/**
 * Where the attributes of users live; `null` columns are absent attributes. A text without `@` stands in for the
 * address of a person who has none.
 */
export const toUserColumns = (scimUrl: string): ScimColumns => ({
  columns: {
    id: { expression: sql.ref('person.id'), isId: true },
    externalId: { expression: sql.ref('person.external_id') },
    userName: {
      expression: sql`coalesce(person.user_name, person.email)`,
      equals: (userName) =>
        sql<SqlBool>`lower(person.user_name) = lower(${userName})
          or person.user_name is null and ${hasEmail(userName)}`,
    },
    'name.formatted': { expression: sql.ref('person.formatted_name') },
    'name.familyName': { expression: sql.ref('person.family_name') },
    'name.givenName': { expression: sql.ref('person.given_name') },
    displayName: {
      expression: sql`case when person.user_name is null then person.name else person.display_name end`,
    },
    active: { expression: sql`(person.deprovisioned_at is null)` },
    'meta.resourceType': { expression: sql`text 'User'` },
    'meta.created': { expression: sql.ref('person.created_at') },
    'meta.lastModified': { expression: sql.ref('person.updated_at') },
  },
  collections: {
    emails: {
      columns: {
        value: { expression: sql`(email.item->>'value')` },
        display: { expression: sql`(email.item->>'display')` },
        type: { expression: sql`(email.item->>'type')` },
        primary: { expression: sql`(email.item->>'primary')::boolean` },
      },
      exists: (condition) => sql<SqlBool>`exists (
        select from jsonb_array_elements(coalesce(person.emails, case
          when position('@' in person.email) = 0 then '[]' else jsonb_build_array(
          jsonb_build_object('value', person.email, 'type', 'work', 'primary', true)) end)) email (item)
        where ${condition})`,
    },
    groups: {
      columns: {
        value: { expression: sql`membership.person_group_id`, isId: true },
        $ref: {
          expression: sql`concat(${`${scimUrl}/Groups/`}::text, membership.person_group_id)`,
        },
        display: { expression: sql`person_group.name` },
        type: { expression: sql`text 'direct'` },
      },
      exists: (condition) => sql<SqlBool>`exists (
        select from person_group_member membership
          join person_group on person_group.id = membership.person_group_id
        where membership.person_id = person.id and ${condition})`,
    },
  },
})

/** A part of a list by position; RFC 7644 section 3.4.2.4. */
export interface ScimWindow {
  /** The first position, counted from 1. */
  readonly startIndex: number
  readonly count: number
}

/** The users that meet a condition by ascending id, and how many there are beyond the window. */
export async function listUsers(
  db: Kysely<Schema>,
  condition: Expression<SqlBool>,
  { startIndex, count }: ScimWindow,
): Promise<{ total: number; rows: Person[] }> {
  const matching = db
    .selectFrom('person')
    .where('provisioning_ended_at', 'is', null)
    .where(condition)
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

/** The user with this id, unless the identity provider has deleted it. */
export async function findUser(db: Kysely<Schema>, id: string): Promise<Person | undefined> {
  return findRecord(selectUser(db, id))
}

/** The same, locked until the transaction ends. */
export async function findUserForUpdate(
  tx: Transaction<Schema>,
  id: string,
): Promise<Person | undefined> {
  return findRecord(selectUser(tx, id).forUpdate())
}

function selectUser(db: Kysely<Schema>, id: string) {
  return db
    .selectFrom('person')
    .selectAll()
    .where('id', '=', id)
    .where('provisioning_ended_at', 'is', null)
}

/** The groups of each of these people by ascending id, also of those who are inactive. */
export async function listGroupsOfUsers(
  db: Kysely<Schema>,
  personIds: readonly string[],
): Promise<Map<string, UserGroup[]>> {
  if (personIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('person_group_member')
    .innerJoin('person_group', 'person_group.id', 'person_group_member.person_group_id')
    .select(['person_group_member.person_id', 'person_group.id', 'person_group.name'])
    .where('person_group_member.person_id', 'in', personIds)
    .orderBy('person_group.id')
    .execute()
  return Map.groupBy(rows, (row) => row.person_id)
}

/**
 * A person whom no identity provider manages yet and whose email address is one of these in any case; the
 * earlier address counts more.
 */
export async function findUnmanagedPersonId(
  db: Kysely<Schema>,
  emails: readonly string[],
): Promise<string | undefined> {
  const wanted = emails.map((email) => email.toLowerCase())
  const rows = await db
    .selectFrom('person')
    .select(['id', 'email'])
    .where(sql`lower(email)`, 'in', wanted)
    .where('user_name', 'is', null)
    .where('deprovisioned_at', 'is', null)
    .orderBy('id')
    .execute()
  const byPreference = wanted.map((email) => rows.find((row) => row.email.toLowerCase() === email))
  return byPreference.find((row) => row !== undefined)?.id
}

/** Which of these values another user has: the user name, or the email address of a live one. */
export async function findUserConflict(
  tx: Transaction<Schema>,
  values: { readonly userName: string; readonly email: string; readonly isActive: boolean },
  exceptId: string | undefined,
): Promise<'userName' | 'email' | undefined> {
  const isOther = exceptId === undefined ? sql<SqlBool>`true` : sql<SqlBool>`id <> ${exceptId}`
  const byUserName = await tx
    .selectFrom('person')
    .select('id')
    .where(
      sql<SqlBool>`(lower(user_name) = lower(${values.userName})
        or user_name is null and ${hasEmail(values.userName)})`,
    )
    .where('provisioning_ended_at', 'is', null)
    .where(isOther)
    .executeTakeFirst()
  if (byUserName !== undefined) return 'userName'
  if (!values.isActive) return undefined
  const byEmail = await tx
    .selectFrom('person')
    .select('id')
    .where(sql`lower(email)`, '=', sql`lower(${values.email})`)
    .where('deprovisioned_at', 'is', null)
    .where(isOther)
    .executeTakeFirst()
  return byEmail === undefined ? undefined : 'email'
}
