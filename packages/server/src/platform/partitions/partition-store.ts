/*
 * The tables that are partitioned by ranges of their ids, as the functions of the schema work on them: which partitions
 * they have, the next step of one, the end of one. SQL only.
 */
import { sql, type Kysely, type QueryExecutorProvider } from 'kysely'
import { errorCodeOf } from '../error-code-of.ts'

/** The ids that a partition takes; the first one has no lower bound. */
export interface Partition {
  readonly name: string
  readonly lowerBound: string | null
  readonly upperBound: string
}

/** The names of the tables that are, or become, partitioned. */
export async function listPartitionedTables(db: QueryExecutorProvider): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from partitioned_tables() order by 1`.execute(db)
  return rows.map(({ name }) => name)
}

/** The partitions that get no more rows, from the first to the last: every id of theirs was given out. */
export async function listFullPartitions(
  db: QueryExecutorProvider,
  table: string,
): Promise<Partition[]> {
  const { rows } = await sql<Partition>`
    select partition_name as name, lower_bound::text as "lowerBound",
      upper_bound::text as "upperBound"
    from list_partitions(${table}) where upper_bound <= partition_position(${table})`.execute(db)
  return rows
}

/** Takes the next step of a table and answers which one; null when there is none. For a transaction of its own. */
export async function advancePartitions(
  tx: QueryExecutorProvider,
  table: string,
): Promise<string | null> {
  const { rows } = await sql<{ step: string | null }>`
    select set_config('statement_timeout', '0', true), advance_partitions(${table}) as step`.execute(
    tx,
  )
  return rows[0]?.step ?? null
}

/** Drops a partition with its rows. */
export async function dropPartition<Tables>(
  db: Kysely<Tables>,
  table: string,
  { name }: Partition,
): Promise<void> {
  await db.transaction().execute((tx) => sql`select drop_partition(${table}, ${name})`.execute(tx))
}

/** Whether a table could not be locked in the moment that its change may wait. */
export function isTableInUse(error: unknown): boolean {
  return errorCodeOf(error) === '55P03'
}
