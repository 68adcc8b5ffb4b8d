import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** Whether an admin can sign in without a one-time link. */
export async function hasWayToSignIn(db: Kysely<Schema>, adminId: string): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select exists (select from admin_passkey where admin_id = ${adminId}) as has`.execute(db)
  return rows[0]?.has === true
}

/** Whether some admin with Full Access can sign in without a one-time link. */
export async function canSomebodySignIn(db: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql<{ can: boolean }>`
    select exists (
      select from admin_user where access = 'full'
        and exists (select from admin_passkey where admin_id = admin_user.id)
    ) as can`.execute(db)
  return rows[0]?.can === true
}
