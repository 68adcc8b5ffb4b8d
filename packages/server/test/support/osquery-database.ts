import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import tables from './osquery-tables.json' with { type: 'json' }

/** A row as an osquery agent reports it, before its values become strings. */
export type OsqueryRow = Readonly<Record<string, SQLInputValue>>

/**
 * An in-memory SQLite database that stands in for an agent: the osquery tables that the catalogue
 * uses, with their specified columns and types, filled with the given rows. Closes with `using`.
 */
export function openOsqueryDatabase(
  rowsByTable: Readonly<Record<string, readonly OsqueryRow[]>> = {},
): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  for (const [table, columns] of Object.entries(tables)) {
    const list = Object.entries(columns).map(([name, type]) => `"${name}" ${type}`)
    database.exec(`CREATE TABLE "${table}" (${list.join(', ')})`)
  }
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
