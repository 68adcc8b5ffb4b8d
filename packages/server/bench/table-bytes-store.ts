import { sql, type Kysely } from 'kysely'
import type { Schema } from '../src/schema/schema.ts'

/** What a table takes on disk, its partitions included. */
export interface TableBytes {
  readonly table: string
  /** The rows, with what is stored beside them for its length. */
  readonly rowBytes: number
  readonly indexBytes: number
}

/** The tables whose rows take so many bytes or more, those with the most indexes beside their rows first. */
export async function listTableBytes(
  db: Kysely<Schema>,
  rowBytesMin: number,
): Promise<TableBytes[]> {
  const { rows } = await sql<TableBytes>`
    select root.relname::text as table, sum(pg_table_size(part.oid))::float8 as "rowBytes",
      sum(pg_indexes_size(part.oid))::float8 as "indexBytes"
    from pg_class part join pg_class root on root.oid = coalesce(pg_partition_root(part.oid), part.oid)
    where part.relkind = 'r' and root.relnamespace = 'public'::regnamespace
    group by root.relname
    having sum(pg_table_size(part.oid)) >= ${rowBytesMin}`.execute(db)
  return rows.sort((a, b) => b.indexBytes / b.rowBytes - a.indexBytes / a.rowBytes)
}
