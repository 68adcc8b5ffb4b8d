import { toColumnName } from '../../posture/reporting/reporting-table.ts'
import { REPORTING_TABLES } from '../../posture/reporting/reporting-tables.ts'
import { toTable } from '../command-io.ts'
import { command } from '../command.ts'
import { JSON_FLAG } from '../option.ts'

/** `heliograph reporting-tables`. */
export const definition = command({
  name: 'reporting-tables',
  description: 'the tables that reporting queries can read',
  options: { json: JSON_FLAG },
  run: async () => REPORTING_TABLES,
  json: (tables) =>
    tables.map(({ intervalSeconds, ...table }) => ({
      ...table,
      interval_seconds: intervalSeconds,
    })),
  text: (tables) =>
    toTable(tables, {
      TABLE: ({ name }) => name,
      DESCRIPTION: ({ description }) => description,
      COLUMNS: (table) => table.columns.map((column) => toColumnName(table, column)).join(', '),
    }),
})
