/*
 * Whether the devices that are asked a query have the tables and columns that it names. SQLite itself looks
 * the names up, in a database that has osquery's tables and no rows; nothing is run. What is found is told
 * and refuses nothing: a newer osquery, or an extension, may have more than is known here.
 */
import { constants, DatabaseSync } from 'node:sqlite'
import type { CheckPlatform } from '../../checks/check-definition.ts'
import { countExpandedSelects } from './query-cost.ts'
import {
  isInVersion,
  listColumns,
  listPlatforms,
  OSQUERY_LATEST_VERSION,
  OSQUERY_MINIMUM_VERSION,
  OSQUERY_TABLES,
  OSQUERY_VERSIONS,
} from './table-facts.ts'

/** More selects than any query of the catalogue has by far, and some milliseconds of work. */
const EXPANDED_SELECTS_MAX = 600
/** Functions of osquery that SQLite does not know; which there are depends on extensions too. */
const UNKNOWN_FUNCTIONS_MAX = 50

const PLATFORM_NAMES = { darwin: 'macOS', windows: 'Windows', linux: 'Linux' } as const

/**
 * `unknown_name`: no device of the platform can run it. `newer_version`: devices with an older osquery cannot.
 * `empty_column`: a column that it reads has no value on the platform. `needs_constraint`: a table that it
 * reads answers no row unless the query says which.
 */
export type MisfitKind = 'unknown_name' | 'newer_version' | 'empty_column' | 'needs_constraint'

/** What of a query some of its devices do not have. */
export interface QueryMisfit {
  readonly platform: CheckPlatform
  readonly kind: MisfitKind
  /** A sentence that names the table or column and where it is to be found. */
  readonly message: string
}

/**
 * Holds a query, which is one statement that reads, to the tables of osquery on each platform, from the
 * oldest release that devices may run. Of names that are missing only the first that SQLite finds is told.
 * Nothing is said of a query that is no SQL, or that takes long to look through.
 */
export function listQueryMisfits(sql: string, platforms: readonly CheckPlatform[]): QueryMisfit[] {
  const key = [...platforms, sql].join('\n')
  const known = answers.get(key)
  if (known !== undefined) return known
  const isSimple = countExpandedSelects(sql) <= EXPANDED_SELECTS_MAX
  const misfits = isSimple ? platforms.flatMap((platform) => listMisfitsOn(sql, platform)) : []
  if (answers.size >= ANSWERS_MAX) answers.clear()
  answers.set(key, misfits)
  return misfits
}

/** Of the queries that were shown lately: they are shown again and again, and change seldom. */
const answers = new Map<string, QueryMisfit[]>()
const ANSWERS_MAX = 200

function listMisfitsOn(sql: string, platform: CheckPlatform): QueryMisfit[] {
  const latest = prepareOn(sql, platform, OSQUERY_LATEST_VERSION)
  if (latest.kind === 'failed') {
    const message = explainFailure(latest.error, platform)
    return message === undefined ? [] : [{ platform, kind: 'unknown_name', message }]
  }
  const version = findFirstVersion(sql, platform)
  const place = PLATFORM_NAMES[platform]
  return [
    ...(version === OSQUERY_MINIMUM_VERSION
      ? []
      : [
          {
            platform,
            kind: 'newer_version' as const,
            message: `Needs osquery ${version} or newer on ${place}; devices may run ${OSQUERY_MINIMUM_VERSION}.`,
          },
        ]),
    ...[...latest.columnsRead].flatMap(([name, columns]) => [
      ...listEmptyColumns(name, columns, platform),
      ...listMissingConstraints(name, columns, platform),
    ]),
  ]
}

type Prepared =
  /** The columns that are read, by table. */
  | { readonly kind: 'prepared'; readonly columnsRead: ReadonlyMap<string, ReadonlySet<string>> }
  | { readonly kind: 'failed'; readonly error: string }

function prepareOn(sql: string, platform: CheckPlatform, version: string): Prepared {
  const database = openTables(platform, version)
  const columnsRead = new Map<string, Set<string>>()
  database.setAuthorizer((action, table, column) => {
    if (action === constants.SQLITE_READ && table !== null && column !== null) {
      columnsRead.set(table, (columnsRead.get(table) ?? new Set()).add(column))
    }
    return READING.has(action) ? constants.SQLITE_OK : constants.SQLITE_DENY
  })
  for (let tries = 0; ; tries += 1) {
    try {
      database.prepare(sql)
      return { kind: 'prepared', columnsRead }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      const name = /^no such function: (.+)$/.exec(message)?.[1]
      if (name === undefined || tries === UNKNOWN_FUNCTIONS_MAX) {
        return { kind: 'failed', error: message }
      }
      database.function(name, { varargs: true }, () => null)
      // What a query brought along stays with it.
      databases.delete(`${platform} ${version}`)
    }
  }
}

const READING: ReadonlySet<number> = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
  constants.SQLITE_RECURSIVE,
])

/** Of the newest and the oldest release, which every query is held to; 1 MB each. */
const databases = new Map<string, DatabaseSync>()
const KEPT_VERSIONS = [OSQUERY_MINIMUM_VERSION, OSQUERY_LATEST_VERSION]

function openTables(platform: CheckPlatform, version: string): DatabaseSync {
  const key = `${platform} ${version}`
  const kept = databases.get(key)
  if (kept !== undefined) return kept
  const database = createTables(platform, version)
  if (KEPT_VERSIONS.includes(version)) databases.set(key, database)
  return database
}

function createTables(platform: CheckPlatform, version: string): DatabaseSync {
  const database = new DatabaseSync(':memory:', { enableDoubleQuotedStringLiterals: true })
  const statements: string[] = []
  for (const [name, table] of OSQUERY_TABLES) {
    const columns = listColumns(table, platform, version)
    if (columns.length === 0) continue
    const list = columns.map((column) => `"${column}" ${table.columns[column]?.type ?? 'text'}`)
    statements.push(`create table "${name}" (${list.join(', ')})`)
  }
  database.exec(statements.join(';'))
  return database
}

/** Why no device of a platform can run a query; undefined when it is not for want of a name. */
function explainFailure(error: string, platform: CheckPlatform): string | undefined {
  const place = PLATFORM_NAMES[platform]
  const tableName = /^no such table: (?:main\.)?(.+)$/.exec(error)?.[1]
  if (tableName !== undefined) {
    const table = OSQUERY_TABLES.get(tableName.toLowerCase())
    if (table === undefined) return `osquery has no table ${tableName}.`
    return `osquery has no table ${tableName} on ${place}; it is there on ${namePlatforms(table)} only.`
  }
  const column = /^no such column: (.+?)(?: - should this be .*)?$/.exec(error)?.[1]
  return column === undefined
    ? undefined
    : `The tables of the query have no column ${column} on ${place}.`
}

/** The first release that runs a query that the newest runs. */
function findFirstVersion(sql: string, platform: CheckPlatform): string {
  const versions = OSQUERY_VERSIONS.filter((version) =>
    isInVersion(OSQUERY_MINIMUM_VERSION, version),
  )
  const runs = (version: string) => prepareOn(sql, platform, version).kind === 'prepared'
  return versions.find(runs) ?? OSQUERY_LATEST_VERSION
}

function listEmptyColumns(
  name: string,
  columnsRead: ReadonlySet<string>,
  platform: CheckPlatform,
): QueryMisfit[] {
  const { columns = {} } = OSQUERY_TABLES.get(name) ?? {}
  return [...columnsRead].flatMap((column) => {
    const { platforms = [] } = columns[column] ?? {}
    if (platforms.length === 0 || platforms.includes(platform)) return []
    const others = namePlatforms({ platforms })
    const message = `The column ${column} of ${name} is empty on ${PLATFORM_NAMES[platform]}; it is filled on ${others}.`
    return [{ platform, kind: 'empty_column', message }]
  })
}

/** Some tables answer only what a query names, such as files by their path. */
function listMissingConstraints(
  name: string,
  columnsRead: ReadonlySet<string>,
  platform: CheckPlatform,
): QueryMisfit[] {
  const required = Object.entries(OSQUERY_TABLES.get(name)?.columns ?? {})
    .filter(([, column]) => column.required === true)
    .map(([column]) => column)
  if (required.length === 0 || required.some((column) => columnsRead.has(column))) return []
  const message = `The table ${name} answers nothing unless the query narrows ${required.join(' or ')}.`
  return [{ platform, kind: 'needs_constraint', message }]
}

function namePlatforms(place: { readonly platforms: readonly string[] }): string {
  return listPlatforms(place)
    .map((platform) => PLATFORM_NAMES[platform])
    .join(' and ')
}
