import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { referencedField } from '../../platform/search/search-to-sql.ts'
import { RecordList, type FieldDeclaration, type RowOf } from '../../platform/search/record-list.ts'
import { toColumnName, type ReportingTable } from './reporting-table.ts'

/** What devices reported of a table; every column can be searched, as the text that osquery reports. */
export function tableRecordList(table: ReportingTable) {
  const columns = table.columns.map((column): [string, FieldDeclaration] => [
    toColumnName(table, column),
    { type: 'text', column: sql`(reporting_record.columns->>${column.name})`, isRead: true },
  ])
  return new RecordList({
    noun: 'table record',
    table: 'reporting_record',
    scope: sql`reporting_record.table_name = ${table.name}`,
    fields: {
      device_id: 'id',
      device_name: {
        type: 'text',
        column: referencedField(
          { by: 'reporting_record.device_id', table: 'device' },
          sql.ref('device.name'),
        ),
      },
      collected_at: { type: 'timestamp', isRead: 'if many' },
      ...Object.fromEntries(columns),
    },
    select: selectRecords,
  })
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
export type TableRecord = RowOf<ReturnType<typeof tableRecordList>>
