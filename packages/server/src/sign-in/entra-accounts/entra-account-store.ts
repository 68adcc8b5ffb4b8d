import { sql, type Kysely, type SqlBool, type Transaction } from 'kysely'
import { notFound } from '../../platform/app-error.ts'
import { afterKey, type PageWindow } from '../../platform/db/page.ts'
import { isUuid } from '../../platform/ids.ts'
import { defineTable, type NewRecord, type RecordOf } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const accountTable = defineTable('entra_account')

/** The account of Entra by which a person signs in. */
export type EntraAccount = RecordOf<typeof accountTable>

export async function findEntraAccount(
  tx: Transaction<Schema>,
  by: Pick<EntraAccount, 'tenantId' | 'objectId'>,
): Promise<EntraAccount | undefined> {
  return accountTable.find(tx, by)
}

/** False when the account, or another one of the person in the tenant, is known already. */
export async function insertEntraAccount(
  tx: Transaction<Schema>,
  account: NewRecord<'entra_account'>,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('entra_account')
    .values({
      id: account.id,
      tenant_id: account.tenantId,
      object_id: account.objectId,
      person_id: account.personId,
      username: account.username,
      first_seen_at: account.firstSeenAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** @throws AppError `not_found` */
export async function deleteEntraAccount(
  tx: Transaction<Schema>,
  id: string,
): Promise<EntraAccount> {
  const row = isUuid(id)
    ? await tx.deleteFrom('entra_account').where('id', '=', id).returningAll().executeTakeFirst()
    : undefined
  if (row === undefined) throw notFound('Entra account', id)
  return accountTable.fromRow(row)
}

/** An account as lists show it. */
export interface ListedEntraAccount extends EntraAccount {
  readonly personEmail: string
}

export async function listEntraAccounts(
  db: Kysely<Schema>,
  personId: string | undefined,
  window: PageWindow,
): Promise<ListedEntraAccount[]> {
  const conditions = [
    ...(personId === undefined ? [] : [sql<SqlBool>`e.person_id = ${personId}`]),
    afterKey(sql.ref('e.id'), window),
  ]
  const rows = await db
    .selectFrom('entra_account as e')
    .innerJoin('person as p', 'p.id', 'e.person_id')
    .selectAll('e')
    .select('p.email as person_email')
    .where(sql<SqlBool>`${sql.join(conditions, sql` and `)}`)
    .orderBy('e.id')
    .limit(window.limit)
    .execute()
  return rows.map((row) => accountTable.fromRow(row) as unknown as ListedEntraAccount)
}
