/*
 * Columns of sealed secrets, whatever table they are in: which master keys their secrets are sealed under, and
 * the exchange of what seals them. The secrets themselves are not opened here.
 */
import { sql, type QueryExecutorProvider } from 'kysely'

/** A column of sealed secrets, with the primary key of its table. */
export interface SealedColumn {
  readonly table: string
  readonly key: string
  readonly column: string
}

/** How many secrets of a column are sealed under a master key. */
export interface SealedCount {
  readonly table: string
  readonly column: string
  /** Eight hex digits. */
  readonly keyId: string
  readonly count: number
}

/** A secret with the key of its row. */
export interface SealedRow {
  readonly rowKey: unknown
  readonly sealed: Buffer
}

/** Whether a column holds secrets; false where its table is still to be made. */
export async function hasSealed(
  db: QueryExecutorProvider,
  { table, column }: SealedColumn,
): Promise<boolean> {
  const made = await sql<{ is_made: boolean }>`
    select to_regclass(${table}) is not null as is_made`.execute(db)
  if (made.rows[0]?.is_made !== true) return false
  const { rows } = await sql`
    select from ${sql.table(table)} where ${sql.ref(column)} is not null limit 1`.execute(db)
  return rows.length > 0
}

/** Counts the secrets of a column by their master key. */
export async function countSealed(
  db: QueryExecutorProvider,
  { table, column }: SealedColumn,
): Promise<SealedCount[]> {
  const { rows } = await sql<{ key_id: string; count: string }>`
    select encode(${keyIdOf(column)}, 'hex') as key_id, count(*) as count
    from ${sql.table(table)} where ${sql.ref(column)} is not null
    group by 1 order by 1`.execute(db)
  return rows.map(({ key_id: keyId, count }) => ({ table, column, keyId, count: Number(count) }))
}

/**
 * The next secrets of a column behind the row `afterKey` that are not sealed under the key `keyId`, locked until
 * the transaction ends.
 */
export async function listOtherwiseSealedForUpdate(
  db: QueryExecutorProvider,
  { table, key, column }: SealedColumn,
  { keyId, afterKey, limit }: { keyId: Buffer; afterKey: unknown; limit: number },
): Promise<SealedRow[]> {
  const isBehind = afterKey === undefined ? sql`true` : sql`${sql.ref(key)} > ${afterKey}`
  const { rows } = await sql<{ row_key: unknown; sealed: Buffer }>`
    select ${sql.ref(key)} as row_key, ${sql.ref(column)} as sealed from ${sql.table(table)}
    where ${sql.ref(column)} is not null and ${keyIdOf(column)} <> ${keyId} and ${isBehind}
    order by ${sql.ref(key)} limit ${limit} for no key update`.execute(db)
  return rows.map(({ row_key: rowKey, sealed }) => ({ rowKey, sealed }))
}

/** Stores a secret that was sealed anew. */
export async function updateSealed(
  db: QueryExecutorProvider,
  { table, key, column }: SealedColumn,
  { rowKey, sealed }: SealedRow,
): Promise<void> {
  await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sealed}
    where ${sql.ref(key)} = ${rowKey}`.execute(db)
}

/** The id of the master key stands behind the version; see the layout in sealed-box.ts. */
function keyIdOf(column: string) {
  return sql<Buffer>`substring(${sql.ref(column)} from 2 for 4)`
}
