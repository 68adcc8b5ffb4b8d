import type { Platform } from '../platform.ts'

/** SQLite column types as osquery declares them in its table specifications. */
type ColumnType = 'TEXT' | 'INTEGER' | 'BIGINT' | 'DOUBLE'

/** A column of an osquery table. `isNoCase` says that comparisons ignore case. */
interface ColumnDefinition {
  readonly name: string
  readonly type: ColumnType
  readonly isNoCase: boolean
}

/** A table as one platform exposes it. */
export interface TableDefinition {
  readonly name: string
  readonly columns: readonly ColumnDefinition[]
}

/** Table name to its columns in the notation of `parseColumns`. */
export type TableSources = Readonly<Record<string, string>>

const TYPES: Readonly<Record<string, ColumnType>> = {
  integer: 'INTEGER',
  bigint: 'BIGINT',
  double: 'DOUBLE',
  text: 'TEXT',
}

function parseColumn(source: string): ColumnDefinition {
  const isNoCase = source.endsWith('!')
  const [name = '', typeName = 'text'] = source.replace(/!$/, '').split(':')
  const type = TYPES[typeName]
  if (name === '' || type === undefined) throw new Error(`Not a column: ${source}`)
  return { name, type, isNoCase }
}

/**
 * Reads columns written as `name`, `name:integer`, `name:bigint` or `name:double`, separated by
 * blanks; text is the default, a trailing `!` means case-insensitive.
 */
function parseColumns(source: string): ColumnDefinition[] {
  return source.trim().split(/\s+/).map(parseColumn)
}

/** The tables of one platform: the common ones, the platform's own, and its extra columns. */
export interface PlatformTables {
  readonly platform: Platform
  readonly tables: ReadonlyMap<string, TableDefinition>
}

/** Joins table sources; a later source of the same name adds columns to the earlier. */
export function assembleTables(
  platform: Platform,
  sources: readonly TableSources[],
): PlatformTables {
  const tables = new Map<string, TableDefinition>()
  for (const source of sources) {
    for (const [name, columnSource] of Object.entries(source)) {
      const earlier = tables.get(name)?.columns ?? []
      tables.set(name, { name, columns: [...earlier, ...parseColumns(columnSource)] })
    }
  }
  return { platform, tables }
}
