/* How far each table that grows for ever is with its partitions, in figures. SQL only. */
import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** A table that is, or becomes, partitioned. */
export interface PartitionFigures {
  readonly name: string
  /** What was done last: `plain`, `bounded` and `validated` come before `partitioned`. */
  readonly state: 'plain' | 'bounded' | 'validated' | 'partitioned'
  readonly partitions: number
  /** Rows for which no partition was made in time, by the last analysis. */
  readonly othersRows: number
  /** Of all of it with its indexes. */
  readonly bytes: number
  readonly lastId: string
  /** The first id for which no partition is made. */
  readonly endId: string | null
}

/** The figures of every such table by its name. */
export async function readPartitionFigures(db: Kysely<Schema>): Promise<PartitionFigures[]> {
  const { rows } = await sql<PartitionFigures>`
    select t.table_name as name,
      case when c.relkind = 'p' then 'partitioned' else coalesce(
        (select case when convalidated then 'validated' else 'bounded' end
          from pg_constraint where conrelid = c.oid and conname = 'partition_bound'), 'plain') end as state,
      parts.count as partitions, parts.others as "othersRows", parts.bytes as bytes,
      partition_position(t.table_name)::text as "lastId", parts.ending as "endId"
    from partitioned_tables() t
      join pg_class c on c.oid = format('public.%I', t.table_name)::regclass
      cross join lateral (
        select count(*)::int, max(p.upper_bound)::text as ending,
          coalesce(sum(greatest(part.reltuples, 0)) filter (where p.is_default), 0)::float8 as others,
          (coalesce(sum(pg_total_relation_size(part.oid)), 0) + pg_total_relation_size(c.oid))::float8 as bytes
        from list_partitions(t.table_name) p
          join pg_class part on part.relname = p.partition_name
            and part.relnamespace = 'partitions'::regnamespace) parts
    order by 1`.execute(db)
  return rows
}
