/*
 * What osquery's tables are: on which platforms each exists, its columns, and since which version.
 * The facts stand in osquery-tables.json, made from osquery's own table specifications of the releases that
 * it names; docs/osquery-protocol.md says what they are for. Knows no query.
 */
import { CHECK_PLATFORMS, type CheckPlatform } from '../../checks/check-definition.ts'
import facts from './osquery-tables.json' with { type: 'json' }

/** A column of a table of osquery. */
export interface OsqueryColumn {
  readonly type: string
  /**
   * Where it is filled. On the other platforms of its table it exists, hidden and empty. No platform stands
   * for those that the specification names in a way that the facts do not understand.
   */
  readonly platforms: readonly string[]
  /** The first of the known releases that has it; all have it when left out. */
  readonly since?: string
  /** The table answers nothing unless a query narrows this column, or another one of the same table. */
  readonly required?: boolean
  /** Left out of `select *`. */
  readonly hidden?: boolean
}

/** A table of osquery. */
export interface OsqueryTable {
  readonly platforms: readonly string[]
  readonly columns: Readonly<Record<string, OsqueryColumn>>
  /** The first of the known releases that has it; all have it when left out. */
  readonly since?: string
  /** It answers what a publisher of events has gathered, where that is switched on. */
  readonly events?: boolean
}

/** The tables by name. */
export const OSQUERY_TABLES: ReadonlyMap<string, OsqueryTable> = new Map(
  Object.entries(facts.tables as Readonly<Record<string, OsqueryTable>>),
)

/** The releases whose tables are known, the oldest first. */
export const OSQUERY_VERSIONS: readonly string[] = facts.versions

/** The newest release whose tables are known. */
export const OSQUERY_LATEST_VERSION: string = facts.latest

/** The oldest osquery that devices may run: built-in checks and reporting tables are held to its tables. */
export const OSQUERY_MINIMUM_VERSION = '5.12.1'

/** Whether something that came with a release is in another one. Both are among `OSQUERY_VERSIONS`. */
export function isInVersion(since: string | undefined, version: string): boolean {
  return since === undefined || OSQUERY_VERSIONS.indexOf(since) <= OSQUERY_VERSIONS.indexOf(version)
}

/** The names of the columns that a table has on a platform in a release; none where it does not exist. */
export function listColumns(
  table: OsqueryTable,
  platform: CheckPlatform,
  version: string,
): readonly string[] {
  if (!table.platforms.includes(platform) || !isInVersion(table.since, version)) return []
  return Object.entries(table.columns)
    .filter(([, { since }]) => isInVersion(since, version))
    .map(([name]) => name)
}

/** The platforms on which a table exists, of those that checks run on. */
export function listPlatforms({ platforms }: Pick<OsqueryTable, 'platforms'>): CheckPlatform[] {
  return CHECK_PLATFORMS.filter((platform) => platforms.includes(platform))
}
