import type { CheckDefinition } from '../check-definition.ts'
import {
  installedAppsSql,
  installedPackagesSql,
  installedProgramsSql,
  type SoftwareNames,
} from './installed-software-sql.ts'
import { majorVersionSql, verdictSql } from './verdict-sql.ts'

/**
 * Queries that compare the oldest installed copy of a browser with a minimum major version. A device
 * without the browser is inapplicable. On Ubuntu the package of a browser that comes as a snap only
 * stands for the snap, which updates itself, so it is left out.
 */
export function browserVersionQueries(
  names: SoftwareNames,
  minimumMajor: number,
): CheckDefinition['queries'] {
  const toQuery = (installed: string) =>
    verdictSql({
      with: `installed AS (${installed})`,
      facts: {
        version: `SELECT version FROM installed WHERE version NOT LIKE '%snap%' ORDER BY ${majorVersionSql('version')} LIMIT 1`,
        minimum_major_version: `SELECT ${minimumMajor}`,
      },
      cases: [
        ['INAPPLICABLE', `version IS NULL`],
        ['UNKNOWN', `${majorVersionSql('version')} = 0`],
        ['PASS', `${majorVersionSql('version')} >= minimum_major_version`],
      ],
      otherwise: 'FAIL',
    })
  return {
    darwin: toQuery(installedAppsSql(names)),
    windows: toQuery(installedProgramsSql(names)),
    linux: toQuery(installedPackagesSql(names)),
  }
}
