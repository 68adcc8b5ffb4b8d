import type { CheckPlatform } from '../check-definition.ts'
import { failingRowsSql, isEmptySql, likeAnySql, quoteListSql } from './verdict-sql.ts'

/** How a piece of software is named where each platform lists what is installed. */
export interface SoftwareNames {
  /** macOS bundle identifiers, exact. */
  readonly bundleIdentifiers: readonly string[]
  /** LIKE patterns over the names in the Windows list of programs. */
  readonly programNames: readonly string[]
  /** Debian and RPM package names, exact. */
  readonly packageNames: readonly string[]
}

/** SELECT of `name`, `version`, `path` for the macOS apps with these bundle identifiers. */
export function installedAppsSql(names: SoftwareNames): string {
  return `SELECT name, bundle_short_version AS version, path FROM apps WHERE bundle_identifier IN (${quoteListSql(names.bundleIdentifiers)})`
}

/** SELECT of `name`, `version` for the Windows programs with names like these. */
export function installedProgramsSql(names: SoftwareNames): string {
  return `SELECT name, version FROM programs WHERE ${likeAnySql('name', names.programNames)}`
}

/** SELECT of `name`, `version` for the Debian and RPM packages with these names. */
export function installedPackagesSql(names: SoftwareNames): string {
  const list = quoteListSql(names.packageNames)
  return `SELECT name, version FROM deb_packages WHERE name IN (${list}) AND COALESCE(status, '') NOT LIKE '%config-files%'
UNION SELECT name, version FROM rpm_packages WHERE name IN (${list})`
}

/** True where a platform lists no software at all: then what is installed is not known. */
export const NO_SOFTWARE_LISTED_SQL = {
  darwin: isEmptySql('apps'),
  windows: isEmptySql('programs'),
  linux: `${isEmptySql('deb_packages')} AND ${isEmptySql('rpm_packages')}`,
} as const

/** Queries that answer one FAIL row, with `name` and `version`, for each of these that is installed. */
export function unwantedSoftwareQueries(names: SoftwareNames): Record<CheckPlatform, string> {
  const toQuery = (platform: CheckPlatform, installed: string) =>
    failingRowsSql(
      ['name', 'version'],
      `SELECT name, MAX(version) FROM (${installed}) GROUP BY name`,
      [['UNKNOWN', NO_SOFTWARE_LISTED_SQL[platform]]],
    )
  return {
    darwin: toQuery('darwin', installedAppsSql(names)),
    windows: toQuery('windows', installedProgramsSql(names)),
    linux: toQuery('linux', installedPackagesSql(names)),
  }
}
