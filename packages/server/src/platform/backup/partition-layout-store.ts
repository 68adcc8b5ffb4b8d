/*
 * How the tables of a database are partitioned, so that a restored one is partitioned alike. SQL only. What no
 * partition takes is in the default one of its table, which is always there.
 */
import type { Client } from 'pg'
import type { BackupManifest } from './backup-files.ts'

type PartitionBounds = BackupManifest['partitions'][number]

/** The partitions of the tables of the schema `public`, but for the default ones. */
export async function listPartitionBounds(client: Client): Promise<PartitionBounds[]> {
  const { rows } = await client.query<PartitionBounds>(`
    select parent.relname as "table", c.relname as name,
      substring(bound from 'FROM \\(''?(-?\\d+)') as lower_bound,
      substring(bound from 'TO \\(''?(-?\\d+)') as upper_bound
    from pg_inherits join pg_class parent on parent.oid = inhparent join pg_class c on c.oid = inhrelid
      cross join lateral pg_get_expr(c.relpartbound, c.oid) bound
    where parent.relnamespace = 'public'::regnamespace and parent.relkind = 'p' and bound <> 'DEFAULT'
    order by 1, 4::numeric`)
  return rows
}

/** Puts partitions in the place of those that there are. As the owner of the tables, while they are empty. */
export async function layPartitions(
  client: Client,
  partitions: readonly PartitionBounds[],
): Promise<void> {
  if (partitions.length === 0) return
  await client.query('begin')
  for (const { name } of await listPartitionBounds(client)) {
    await client.query(`drop table partitions."${name}"`)
  }
  for (const { table, name, lower_bound: lowerBound, upper_bound: upperBound } of partitions) {
    await client.query('select make_partition($1, $2, $3, $4)', [
      table,
      name,
      lowerBound,
      upperBound,
    ])
  }
  await client.query('commit')
}
