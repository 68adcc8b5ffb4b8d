import { CHECK_CATALOGUE } from '../../src/posture/checks/catalogue/index.ts'
import type { CheckPlatform } from '../../src/posture/checks/check-definition.ts'
import { openOsqueryDatabase, type TableRows } from './osquery-database.ts'
import { HEALTHY_DEVICES } from './posture-rows.ts'

/** What a check answers of a healthy device, some of whose tables hold other rows. */
export function runCatalogueCheck(slug: string, platform: CheckPlatform, changes: TableRows) {
  const sql = CHECK_CATALOGUE.find((check) => check.slug === slug)!.queries[platform]!
  using database = openOsqueryDatabase({ ...HEALTHY_DEVICES[platform], ...changes })
  return database.prepare(sql).all()
}

/** The verdicts of what `runCatalogueCheck` answers. */
export function listVerdicts(slug: string, platform: CheckPlatform, changes: TableRows) {
  return runCatalogueCheck(slug, platform, changes).map((row) => row['KOLIDE_CHECK_STATUS'])
}
