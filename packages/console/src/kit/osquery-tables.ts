/* The tables of osquery, as the SQL editor and lists of tables show them. Large: import it lazily. */
import { OSQUERY_TABLES_TEXT } from '../api/generated/osquery-tables.gen.ts'

/** The platforms that osquery runs on, as its tables name them. */
export type OsqueryPlatform = 'darwin' | 'linux' | 'windows'

export interface OsqueryColumn {
  readonly name: string
  readonly type: string
  /** The table answers nothing unless a query narrows this column, or another one like it. */
  readonly isRequired: boolean
  readonly platforms: readonly OsqueryPlatform[]
}

export interface OsqueryTable {
  readonly name: string
  readonly platforms: readonly OsqueryPlatform[]
  readonly columns: readonly OsqueryColumn[]
}

const PLATFORMS: Readonly<Record<string, OsqueryPlatform>> = {
  d: 'darwin',
  l: 'linux',
  w: 'windows',
}
const TYPES: Readonly<Record<string, string>> = {
  t: 'text',
  i: 'integer',
  b: 'bigint',
  d: 'double',
}

/** What people call the platforms. */
export const PLATFORM_NAMES: Readonly<Record<OsqueryPlatform, string>> = {
  darwin: 'macOS',
  linux: 'Linux',
  windows: 'Windows',
}

/** Every table of the newest known release, by name. */
export const OSQUERY_TABLES: readonly OsqueryTable[] =
  OSQUERY_TABLES_TEXT.split('\n').map(readTable)

function readTable(line: string): OsqueryTable {
  const [name = '', initials = '', ...fields] = line.split(' ')
  const platforms = readPlatforms(initials)
  const columns = fields.map((field): OsqueryColumn => {
    const [column = '', type = '', own] = field.split(':')
    return {
      name: column,
      type: TYPES[type[0] ?? ''] ?? 'text',
      isRequired: type.endsWith('!'),
      platforms: own === undefined ? platforms : readPlatforms(own),
    }
  })
  return { name, platforms, columns }
}

function readPlatforms(initials: string): readonly OsqueryPlatform[] {
  return [...initials].flatMap((initial) => PLATFORMS[initial] ?? [])
}
