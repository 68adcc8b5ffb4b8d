import type { Kysely, Selectable, Transaction } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'

/** Release data as it was brought from a file; what its content is, is not checked here. */
type ImportedReleaseData = Selectable<Schema['release_data']>

export async function findImportedReleaseData(
  db: Kysely<Schema>,
): Promise<ImportedReleaseData | undefined> {
  return db.selectFrom('release_data').selectAll().executeTakeFirst()
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
