import { sql, type Kysely } from 'kysely'
import { keepPartitions } from '../../src/organisation/partitions/keep-partitions.ts'
import type { Schema } from '../../src/schema/schema.ts'

/** Has the partitions of every table hold so few ids from now on. */
export async function setPartitionSize(db: Kysely<Schema>, size: number): Promise<void> {
  const { rows } = await sql<{ definition: string }>`
    select pg_get_functiondef('partitioned_tables'::regproc) as definition`.execute(db)
  await sql.raw((rows[0]?.definition ?? '').replaceAll('8388608', String(size))).execute(db)
}

/** Each partition of a table with its bounds and how many rows it has. */
export async function describePartitions(
  db: Kysely<Schema>,
  table: string,
): Promise<Readonly<Record<string, number>>> {
  const { rows } = await sql<{ bounds: string; count: number }>`
    select case when is_default then 'others'
        else concat(lower_bound, ' to ', upper_bound) end as bounds,
      (select count(*)::int from ${sql.table(table)} r
       where r.tableoid = format('partitions.%I', partition_name)::regclass) as count
    from list_partitions(${table})`.execute(db)
  return Object.fromEntries(rows.map(({ bounds, count }) => [bounds, count]))
}

/** Makes partitions as the job of the service does. Answers the steps of a table. */
export async function makePartitions(db: Kysely<Schema>, of: string): Promise<string[]> {
  const steps: string[] = []
  await keepPartitions(db, {
    onStep: ({ table, step }) => (table === of ? steps.push(step) : undefined),
    signal: new AbortController().signal,
  })
  return steps
}

/** Has the next id of a table be the first one of a partition of `size` ids, of which two are made. */
export async function beginPartition(
  db: Kysely<Schema>,
  { table, first, size }: { readonly table: string; readonly first: number; readonly size: number },
): Promise<void> {
  await setPartitionSize(db, size)
  await sql`select setval((select key_sequence from partitioned_tables() where table_name = ${table}),
    ${first - 1}::bigint)`.execute(db)
  await makePartitions(db, table)
}
