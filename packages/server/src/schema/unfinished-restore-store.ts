/*
 * The mark of a database that a restore has not finished: from when its schema is made until it is taken into use.
 * It is a comment on the table of migrations, which every version of the schema has. SQL only.
 */
import { sql, type Transaction } from 'kysely'
import type { Client } from 'pg'
import type { Schema } from './schema.ts'

const MARK = 'A restore of a backup into this database is not finished.'

/** To be called before any row is there, as the owner. */
export async function markUnfinishedRestore(client: Client): Promise<void> {
  await client.query(`comment on table schema_migration is '${MARK}'`)
}

export async function hasUnfinishedRestore(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ mark: string | null }>(
    `select obj_description(to_regclass('schema_migration'), 'pg_class') as mark`,
  )
  return rows[0]?.mark === MARK
}

/** For statements on rows that count only when a restore has finished. */
export const isRestoreFinished = sql<boolean>`
  obj_description(to_regclass('schema_migration'), 'pg_class') is distinct from ${sql.lit(MARK)}`

/** With the change that takes the rows into use, as the owner. */
export async function deleteRestoreMark(tx: Transaction<Schema>): Promise<void> {
  await sql`comment on table schema_migration is null`.execute(tx)
}
