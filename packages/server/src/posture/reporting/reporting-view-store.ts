import { createHash } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { toColumnName, type ReportingColumn, type ReportingTable } from './reporting-table.ts'
import { REPORTING_TABLES } from './reporting-tables.ts'
import { lockInTransaction } from '../../platform/db/advisory-lock.ts'
import { LOCK_KEYS } from '../../schema/lock-keys.ts'

/**
 * Makes the schema `reporting` hold one view per reporting table, the tables that saved queries see.
 * Does nothing when the views are those of this program. Idempotent.
 */
export async function syncReportingViews(
  db: Kysely<Schema>,
  tables: readonly ReportingTable[] = REPORTING_TABLES,
): Promise<void> {
  const statements = ['create schema reporting', ...tables.map(toViewSql)]
  const fingerprint = createHash('sha256').update(statements.join('\n')).digest('hex')
  await db.transaction().execute(async (tx) => {
    await lockInTransaction(tx, LOCK_KEYS.reportingViews)
    const present = await sql<{ comment: string | null }>`
      select obj_description(to_regnamespace('reporting')::oid, 'pg_namespace') as comment`.execute(
      tx,
    )
    if (present.rows[0]?.comment === fingerprint) return
    await sql`drop schema if exists reporting cascade`.execute(tx)
    for (const statement of statements) await sql.raw(statement).execute(tx)
    await sql`comment on schema reporting is ${sql.lit(fingerprint)}`.execute(tx)
  })
}

function toViewSql(table: ReportingTable): string {
  const columns = table.columns.map(
    (column) => `${toValueSql(column)} as ${quote(toColumnName(table, column))}`,
  )
  return `create view reporting.${quote(table.name)} as
    select record.id as record_id, record.device_id, device.name as device_name, record.collected_at,
      ${columns.join(', ')}
    from public.reporting_record record join public.device on device.id = record.device_id
    where record.table_name = '${table.name}'`
}

function toValueSql({ name, type }: ReportingColumn): string {
  const value = `record.columns->>'${name}'`
  switch (type) {
    case 'text':
      return `(${value})`
    case 'bigint':
      return `case when ${value} ~ '^-?[0-9]{1,18}$' then (${value})::bigint end`
    case 'double':
      return `case when ${value} ~ '^-?[0-9]{1,15}(\\.[0-9]{1,15})?$' then (${value})::double precision end`
  }
}

function quote(name: string): string {
  return `"${name}"`
}
