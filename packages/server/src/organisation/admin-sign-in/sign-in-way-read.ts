import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/**
 * So many refused codes in a row close a password until it is set up anew. NIST SP 800-63B-4, section 3.2.2 allows
 * 100.
 */
export const WRONG_CODES_MAX = 20

/** By what an admin, a row of `admin_user`, can sign in without a one-time link. */
export const HAS_WAY = {
  passkey: sql<boolean>`exists (select from admin_passkey where admin_id = admin_user.id)`,
  password: sql<boolean>`exists (select from admin_password where admin_id = admin_user.id
    and wrong_code_count < ${WRONG_CODES_MAX})`,
  /** An account at the provider that is set up and on. */
  identity_provider: sql<boolean>`exists (select from admin_identity identity
    join admin_identity_provider provider on provider.issuer = identity.issuer and enabled
    where admin_id = admin_user.id)`,
} as const

const HAS_ANY_WAY = sql<boolean>`(${sql.join(Object.values(HAS_WAY), sql` or `)})`

/** Whether an admin can sign in without a one-time link. */
export async function hasWayToSignIn(db: Kysely<Schema>, adminId: string): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select exists (select from admin_user where id = ${adminId} and ${HAS_ANY_WAY}) as has`.execute(
    db,
  )
  return rows[0]?.has === true
}

/** Whether some admin with Full Access can sign in without a one-time link. */
export async function canSomebodySignIn(db: Kysely<Schema>): Promise<boolean> {
  const { rows } = await sql<{ can: boolean }>`
    select exists (
      select from admin_user where access = 'full' and deactivated_at is null and ${HAS_ANY_WAY}
    ) as can`.execute(db)
  return rows[0]?.can === true
}
