import type { Insertable, Kysely, Updateable } from 'kysely'
import { defineTable, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const providerTable = defineTable('admin_identity_provider')

/** The identity provider of the organisation. */
export type IdentityProvider = RecordOf<typeof providerTable>

/** The provider; undefined when none is set up. Locked until the transaction ends where that is asked for. */
export async function findProvider(
  db: Kysely<Schema>,
  { isLocked = false }: { readonly isLocked?: boolean } = {},
): Promise<IdentityProvider | undefined> {
  const row = await db
    .selectFrom('admin_identity_provider')
    .selectAll()
    .$if(isLocked, (some) => some.forUpdate())
    .executeTakeFirst()
  return row && providerTable.fromRow(row)
}

/** Sets the provider up; undefined when there is one already. */
export async function insertProvider(
  db: Kysely<Schema>,
  values: Insertable<Schema['admin_identity_provider']>,
): Promise<IdentityProvider | undefined> {
  const row = await db
    .insertInto('admin_identity_provider')
    .values(values)
    .onConflict((conflict) => conflict.column('is_single').doNothing())
    .returningAll()
    .executeTakeFirst()
  return row && providerTable.fromRow(row)
}

export async function updateProvider(
  db: Kysely<Schema>,
  id: string,
  values: Updateable<Schema['admin_identity_provider']>,
): Promise<IdentityProvider> {
  const row = await db
    .updateTable('admin_identity_provider')
    .set(values)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return providerTable.fromRow(row)
}

export async function deleteProvider(db: Kysely<Schema>, id: string): Promise<void> {
  await providerTable.delete(db, { id })
}
