import { sql, type Kysely } from 'kysely'
import { HOUR_MS } from '../../platform/clock.ts'
import { timeInMs } from '../../platform/db/database-time.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const LINK_LIFETIME_MS = 24 * HOUR_MS

const linkTable = defineTable('admin_sign_in_link')

/** A one-time link that an admin can sign in by. */
export type SignInLink = RecordOf<typeof linkTable>
export type SignInLinkKind = SignInLink['kind']

/** Adds a link that is good for 24 hours. */
export async function insertLink(
  db: Kysely<Schema>,
  link: Pick<SignInLink, 'adminId' | 'kind' | 'tokenHash'>,
): Promise<SignInLink> {
  const row = await db
    .insertInto('admin_sign_in_link')
    .values({
      ...linkTable.toInsert({ ...link, expiresAt: new Date(0) }),
      expires_at: timeInMs(LINK_LIFETIME_MS),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return linkTable.fromRow(row)
}

/** The link of a token, unless it was used or has expired by the database's clock. */
export async function findLink(
  db: Kysely<Schema>,
  tokenHash: Buffer,
): Promise<SignInLink | undefined> {
  const row = await db
    .selectFrom('admin_sign_in_link')
    .selectAll()
    .where('token_hash', '=', tokenHash)
    .where(sql<boolean>`expires_at > now()`)
    .executeTakeFirst()
  return row && linkTable.fromRow(row)
}

/** Uses a link up; answers whether it could still be used. Of several who try at once one succeeds. */
export async function deleteLink(db: Kysely<Schema>, id: string): Promise<boolean> {
  const row = await db
    .deleteFrom('admin_sign_in_link')
    .where('id', '=', id)
    .where(sql<boolean>`expires_at > now()`)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Ends the links of the first admin. */
export async function deleteFirstAdminLinks(db: Kysely<Schema>): Promise<void> {
  await linkTable.delete(db, { adminId: null })
}

/** Whether an invitation of the admin waits to be followed, by the database's clock. */
export async function hasOpenInvitation(db: Kysely<Schema>, adminId: string): Promise<boolean> {
  const row = await db
    .selectFrom('admin_sign_in_link')
    .select('id')
    .where('admin_id', '=', adminId)
    .where('kind', '=', 'invitation')
    .where(sql<boolean>`expires_at > now()`)
    .executeTakeFirst()
  return row !== undefined
}

/** Ends the links of an admin. */
export async function deleteLinksOf(db: Kysely<Schema>, adminId: string): Promise<void> {
  await linkTable.delete(db, { adminId })
}
