import { sql, type Kysely } from 'kysely'
import { afterKey, type PageWindow } from '../platform/db/page.ts'
import type { Schema } from '../platform/db/schema.ts'
import type { SearchExpression, SearchField } from '../platform/search/search-field.ts'
import {
  searchToSql,
  type SearchColumn,
  type SearchColumns,
} from '../platform/search/search-to-sql.ts'
import { toColumnName, type ReportingTable } from './reporting-table.ts'

const COMMON_FIELDS: readonly SearchField[] = [
  { name: 'device_id', type: 'id', operators: [':'] },
  { name: 'device_name', type: 'text', operators: [':', '~'] },
  { name: 'collected_at', type: 'timestamp', operators: ['<', '>'] },
]

/** What the records of a table can be searched by; every column, as the text that osquery reports. */
export function toRecordFields(table: ReportingTable): SearchField[] {
  const columns = table.columns.map((column): SearchField => ({
    name: toColumnName(table, column),
    type: 'text',
    operators: [':', '~'],
  }))
  return [...COMMON_FIELDS, ...columns]
}

function toRecordColumns(table: ReportingTable): SearchColumns {
  const columns = table.columns.map((column): [string, SearchColumn] => [
    toColumnName(table, column),
    sql`(record.columns->>${column.name})`,
  ])
  return {
    ...Object.fromEntries(columns),
    device_id: sql.ref('record.device_id'),
    device_name: sql.ref('device.name'),
    collected_at: sql.ref('record.collected_at'),
  }
}

/** A page of what devices reported of a table, by ascending id. */
export async function listTableRecords(
  db: Kysely<Schema>,
  table: ReportingTable,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<TableRecord[]> {
  return selectRecords(db)
    .where('record.table_name', '=', table.name)
    .where(afterKey(sql.ref('record.id'), window))
    .$if(search !== undefined, (query) =>
      search === undefined ? query : query.where(searchToSql(search, toRecordColumns(table))),
    )
    .orderBy('record.id')
    .limit(window.limit)
    .execute()
}

function selectRecords(db: Kysely<Schema>) {
  return db
    .selectFrom('reporting_record as record')
    .innerJoin('device', 'device.id', 'record.device_id')
    .select([
      'record.id',
      'record.device_id',
      'device.name as device_name',
      'record.columns',
      'record.collected_at',
    ])
}

/** One row that a device reported. */
export type TableRecord = Awaited<ReturnType<ReturnType<typeof selectRecords>['execute']>>[number]
