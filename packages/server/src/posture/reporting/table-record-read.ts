import { sql, type Kysely, type SqlBool } from 'kysely'
import type { PageWindow } from '../../platform/db/page.ts'
import type { Schema } from '../../schema/schema.ts'
import type { SearchExpression, SearchField } from '../../platform/search/search-field.ts'
import {
  referencedField,
  type SearchColumn,
  type SearchColumns,
} from '../../platform/search/search-to-sql.ts'
import { readPage, type SearchedList } from '../../platform/search/searched-list.ts'
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
    sql`(reporting_record.columns->>${column.name})`,
  ])
  return {
    ...Object.fromEntries(columns),
    device_id: sql.ref('reporting_record.device_id'),
    device_name: referencedField(
      { by: 'reporting_record.device_id', table: 'device' },
      sql.ref('device.name'),
    ),
    collected_at: sql.ref('reporting_record.collected_at'),
  }
}

/** Where the fields of the list are. */
export function tableRecordList(table: ReportingTable): SearchedList {
  return {
    table: 'reporting_record',
    key: 'id',
    fields: toRecordFields(table),
    columns: toRecordColumns(table),
  }
}

/** A page of what devices reported of a table, by ascending id. */
export async function listTableRecords(
  db: Kysely<Schema>,
  table: ReportingTable,
  search: SearchExpression | undefined,
  window: PageWindow,
): Promise<TableRecord[]> {
  const scope = sql<SqlBool>`reporting_record.table_name = ${table.name}`
  return readPage(db, tableRecordList(table), { search, window, scope }, (source, isOnPage) =>
    selectRecords(source)
      .where(isOnPage)
      .orderBy('reporting_record.id')
      .limit(window.limit)
      .execute(),
  )
}

function selectRecords(db: Kysely<Schema>) {
  return db
    .selectFrom('reporting_record')
    .innerJoin('device', 'device.id', 'reporting_record.device_id')
    .select([
      'reporting_record.id',
      'reporting_record.device_id',
      'device.name as device_name',
      'reporting_record.columns',
      'reporting_record.collected_at',
    ])
}

/** One row that a device reported. */
export type TableRecord = Awaited<ReturnType<ReturnType<typeof selectRecords>['execute']>>[number]
