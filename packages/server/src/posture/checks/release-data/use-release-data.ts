/*
 * Which release data an installation uses: what came with the service, or what was brought from a file since.
 * It is kept in the database, so that every process makes the same checks; a change of it changes them at once.
 */
import type { Kysely } from 'kysely'
import type { Change } from '../../../changes/change.ts'
import { AppError, conflict } from '../../../platform/app-error.ts'
import type { Schema } from '../../../schema/schema.ts'
import { createCatalogue } from '../catalogue/index.ts'
import {
  BUILT_IN_RELEASE_DATA,
  parseReleaseData,
  type ReleaseData,
} from '../catalogue/release-data.ts'
import { lockCatalogue } from '../catalogue-store.ts'
import { syncCatalogue, type CatalogueChanges } from '../sync-catalogue.ts'
import {
  deleteReleaseData,
  findImportedReleaseData,
  upsertReleaseData,
} from './release-data-store.ts'

/** The release data that checks are made of, and where it came from. */
export interface ReleaseDataInUse {
  readonly data: ReleaseData
  readonly origin:
    | { readonly kind: 'built_in' }
    | { readonly kind: 'imported'; readonly at: Date; readonly by: string }
}

/**
 * The release data of this installation: what was brought, unless the service has come with newer since. What
 * was brought and cannot be read by this version does not count.
 */
export async function findReleaseDataInUse(db: Kysely<Schema>): Promise<ReleaseDataInUse> {
  const imported = await findImportedReleaseData(db)
  const data = imported === undefined ? undefined : readImported(imported.content)
  if (imported === undefined || data === undefined || data.date < BUILT_IN_RELEASE_DATA.date) {
    return { data: BUILT_IN_RELEASE_DATA, origin: { kind: 'built_in' } }
  }
  const { importedAt: at, importedBy: by } = imported
  return { data, origin: { kind: 'imported', at, by } }
}

function readImported(content: unknown): ReleaseData | undefined {
  try {
    return parseReleaseData(content)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** Brings the built-in checks in line with this release of the service and the release data in use. Idempotent. */
export async function syncReleaseData(change: Change): Promise<CatalogueChanges> {
  // Before the look at the data: whoever brings other data holds the lock meanwhile.
  await lockCatalogue(change.tx)
  const { data } = await findReleaseDataInUse(change.tx)
  return syncCatalogue(change, createCatalogue(data))
}

/**
 * Uses release data from a file from now on: the checks of versions are made of it, and run anew.
 *
 * @throws AppError `invalid_body` for what is no release data; `conflict` when the service came with newer
 */
export async function importReleaseData(
  change: Change,
  content: unknown,
): Promise<CatalogueChanges> {
  const data = parseReleaseData(content)
  if (data.date < BUILT_IN_RELEASE_DATA.date) {
    throw conflict(
      `The release data is of ${data.date}; the service comes with newer, of ${BUILT_IN_RELEASE_DATA.date}.`,
    )
  }
  await lockCatalogue(change.tx)
  const before = await findReleaseDataInUse(change.tx)
  await upsertReleaseData(change.tx, {
    content: data,
    importedAt: change.at,
    importedBy: change.origin.actor.name,
  })
  change.recordAudit({
    action: 'release_data.imported',
    target: null,
    description: `brought release data of ${data.date}`,
    before: { date: before.data.date, origin: before.origin.kind },
    after: { date: data.date },
  })
  return syncReleaseData(change)
}

/** Uses what the service comes with again. */
export async function resetReleaseData(change: Change): Promise<CatalogueChanges> {
  await lockCatalogue(change.tx)
  if (await deleteReleaseData(change.tx)) {
    change.recordAudit({
      action: 'release_data.reset',
      target: null,
      description: 'went back to the release data that the service comes with',
      after: { date: BUILT_IN_RELEASE_DATA.date },
    })
  }
  return syncReleaseData(change)
}
