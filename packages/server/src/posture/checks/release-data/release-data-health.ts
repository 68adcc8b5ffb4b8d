import type { Kysely } from 'kysely'
import { DAY_MS, type Clock } from '../../../platform/clock.ts'
import type { Schema } from '../../../schema/schema.ts'
import { listStaleSections, RELEASE_SECTIONS } from '../catalogue/release-data.ts'
import { findReleaseDataInUse } from './use-release-data.ts'

/** Whole days since each section of the release data in use was read. */
export async function readReleaseDataAges(
  db: Kysely<Schema>,
  now: Date,
): Promise<ReadonlyMap<string, number>> {
  const { data } = await findReleaseDataInUse(db)
  return new Map(
    RELEASE_SECTIONS.map((section) => {
      const ageMs = now.getTime() - Date.parse(data[section].as_of)
      return [section, Math.floor(ageMs / DAY_MS)] as const
    }),
  )
}

interface StalenessDependencies {
  readonly clock: Clock
  readonly log: { readonly warn: (facts: object, message: string) => void }
}

/** Logs which sections of the release data in use are out of date; nothing when none is. */
export async function warnOfStaleReleaseData(
  db: Kysely<Schema>,
  { clock, log }: StalenessDependencies,
): Promise<void> {
  const { data } = await findReleaseDataInUse(db)
  const stale = listStaleSections(data, clock.now())
  if (stale.length === 0) return
  const asOf = Object.fromEntries(stale.map((section) => [section, data[section].as_of]))
  log.warn(
    { as_of: asOf },
    'release data is out of date: checks of versions let outdated systems and browsers pass; bring newer with heliograph release-data import',
  )
}
