import type { Kysely, Transaction } from 'kysely'
import type { StoredRecord } from '../../../schema/define-table.ts'
import { findRecord } from '../../../platform/db/record-table.ts'
import type { Schema } from '../../../schema/schema.ts'

/** Release data as it was brought from a file; what its content is, is not checked here. */
type ImportedReleaseData = StoredRecord<'release_data'>

export async function findImportedReleaseData(
  db: Kysely<Schema>,
): Promise<ImportedReleaseData | undefined> {
  return findRecord(db.selectFrom('release_data').selectAll())
}

/** Puts release data in the place of what was brought before. */
export async function upsertReleaseData(
  tx: Transaction<Schema>,
  { content, importedAt, importedBy }: { content: unknown; importedAt: Date; importedBy: string },
): Promise<void> {
  const values = {
    content: JSON.stringify(content),
    imported_at: importedAt,
    imported_by: importedBy,
  }
  await tx
    .insertInto('release_data')
    .values(values)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
    .execute()
}

/** Answers whether there was any. */
export async function deleteReleaseData(tx: Transaction<Schema>): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('release_data').executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
