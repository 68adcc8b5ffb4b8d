import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/**
 * So many refused codes in a row close a password until it is set up anew. NIST SP 800-63B-4, section 3.2.2 allows
 * 100.
 */
export const WRONG_CODES_MAX = 20

/** Whether an admin can sign in without a one-time link. */
export async function hasWayToSignIn(db: Kysely<Schema>, adminId: string): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select exists (select from admin_user where id = ${adminId} and ${hasWay}) as has`.execute(db)
  return rows[0]?.has === true
}

/** Whether some admin with Full Access can sign in without a one-time link. */
export async function canSomebodySignIn(db: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql<{ can: boolean }>`
    select exists (select from admin_user where access = 'full' and ${hasWay}) as can`.execute(db)
  return rows[0]?.can === true
}

const hasWay = sql<boolean>`(
  exists (select from admin_passkey where admin_id = admin_user.id)
  or exists (select from admin_password where admin_id = admin_user.id
    and wrong_code_count < ${WRONG_CODES_MAX}))`
