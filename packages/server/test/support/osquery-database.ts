import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { OSQUERY_TABLES } from '../../src/posture/osquery/tables/table-facts.ts'

const CREATE_TABLES = [...OSQUERY_TABLES]
  .map(([table, { columns }]) => {
    const list = Object.entries(columns).map(([name, { type }]) => `"${name}" ${type}`)
    return `CREATE TABLE "${table}" (${list.join(', ')})`
  })
  .join(';')

/** A row as an osquery agent reports it, before its values become strings. */
export type OsqueryRow = Readonly<Record<string, SQLInputValue>>

/** The content of an agent's tables. */
export type TableRows = Readonly<Record<string, readonly OsqueryRow[]>>

/**
 * An in-memory SQLite database that stands in for an agent: osquery's tables with the columns of all
 * platforms, filled with the given rows. Closes with `using`.
 */
export function openOsqueryDatabase(rowsByTable: TableRows = {}): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  database.exec(CREATE_TABLES)
  for (const [table, rows] of Object.entries(rowsByTable)) {
    for (const row of rows) insertRow(database, table, row)
  }
  return database
}

function insertRow(database: DatabaseSync, table: string, row: OsqueryRow): void {
  const columns = Object.keys(row)
  const names = columns.map((column) => `"${column}"`).join(', ')
  const places = columns.map(() => '?').join(', ')
  database
    .prepare(`INSERT INTO "${table}" (${names}) VALUES (${places})`)
    .run(...Object.values(row))
}
