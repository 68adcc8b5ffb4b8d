import { sql, type Kysely } from 'kysely'
import { HAS_WAY } from '../admin-sign-in/sign-in-way-read.ts'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const identityTable = defineTable('admin_identity')

/** As whom an identity provider knows an admin. */
export type Identity = RecordOf<typeof identityTable>

/** Whom a provider calls by a subject. */
export async function findIdentity(
  db: Kysely<Schema>,
  issuer: string,
  subject: string,
): Promise<Identity | undefined> {
  return identityTable.find(db, { issuer, subject })
}

/** The identities of an admin by ascending id; at most one of each issuer. */
export async function listIdentities(db: Kysely<Schema>, adminId: string): Promise<Identity[]> {
  const rows = await db
    .selectFrom('admin_identity')
    .selectAll()
    .where('admin_id', '=', adminId)
    .orderBy('id')
    .execute()
  return rows.map((row) => identityTable.fromRow(row))
}

/** Binds a subject to an admin; undefined where one of the two is bound already. */
export async function insertIdentity(
  db: Kysely<Schema>,
  identity: Pick<Identity, 'adminId' | 'issuer' | 'subject' | 'createdAt'>,
): Promise<Identity | undefined> {
  const row = await db
    .insertInto('admin_identity')
    .values(identityTable.toInsert({ ...identity, lastUsedAt: identity.createdAt }))
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
  return row && identityTable.fromRow(row)
}

/** Notes that an identity is used; answers whether it is still there. */
export async function updateIdentityUse(db: Kysely<Schema>, id: string): Promise<boolean> {
  const row = await db
    .updateTable('admin_identity')
    .set({ last_used_at: sql<Date>`now()` })
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Unbinds an identity of an admin; undefined when there is none with this id. */
export async function deleteIdentity(
  db: Kysely<Schema>,
  adminId: string,
  id: string,
): Promise<Identity | undefined> {
  const row = await db
    .deleteFrom('admin_identity')
    .where('id', '=', id)
    .where('admin_id', '=', adminId)
    .returningAll()
    .executeTakeFirst()
  return row && identityTable.fromRow(row)
}

/** How many admins an issuer knows, and how many of them have no other way to sign in. */
export async function countBoundAdmins(
  db: Kysely<Schema>,
  issuer: string,
): Promise<{ readonly bound: number; readonly withoutOtherWay: number }> {
  const { rows } = await sql<{ bound: number; withoutOtherWay: number }>`
    select count(*)::int as bound,
      count(*) filter (where not ${HAS_WAY.passkey} and not ${HAS_WAY.password})::int
        as "withoutOtherWay"
    from admin_identity identity join admin_user on admin_user.id = admin_id
    where issuer = ${issuer} and deactivated_at is null`.execute(db)
  return rows[0] ?? { bound: 0, withoutOtherWay: 0 }
}
