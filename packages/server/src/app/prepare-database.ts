/*
 * What must exist before anything else works: the schema, a signing key, the organisation, the built-in
 * checks and the views of reporting. Owns their order; each is made by its own part.
 */
import { SYSTEM_ACTOR } from '../changes/audit/audit-entry.ts'
import type { Foundation } from '../changes/foundation.ts'
import {
  insertOrganisation,
  updatePreparation,
} from '../organisation/settings/organisation-store.ts'
import { roleOf, type DatabaseConnection } from '../platform/db/connection.ts'
import { openDatabase } from '../platform/db/database.ts'
import type { DatabaseNetwork } from '../platform/db/database-network.ts'
import { syncReleaseData } from '../posture/checks/release-data/use-release-data.ts'
import { syncReportingViews } from '../posture/reporting/reporting-view-store.ts'
import { migrateDatabase } from '../schema/migrate.ts'
import type { Schema } from '../schema/schema.ts'
import { assertTablesFound } from '../schema/server-requirements.ts'
import { grantServiceRole } from '../schema/service-role-store.ts'
import { ensureSigningKey } from '../signals/signing/signing-keys.ts'
import { toConnectionLog } from './connection-log.ts'
import { assertMasterKeyFits } from './assert-master-key-fits.ts'
import { followOrigin, warnOfAsynchronousStandbys } from './backup/follow-origin.ts'
import type { Config } from './config/load-config.ts'

/** What a database is prepared with. */
export interface Preparation extends Foundation {
  readonly config: Config
  readonly connection: DatabaseConnection
  /** As the role that owns the tables; the same where the service does. */
  readonly ownerConnection: DatabaseConnection
  readonly network: DatabaseNetwork
  readonly synchroniseClock: () => Promise<void>
}

const DEFAULT_ORGANISATION_NAME = 'My organisation'

/**
 * Brings the database to what this program works with, and stores under `fingerprint` that it is. What a newer
 * program has prepared stays as it is: its views, its built-in checks. Idempotent, also between processes.
 *
 * @throws ConfigError for a master key that is not that of the database; MigrationError
 */
export async function prepareDatabase(foundation: Preparation, fingerprint: string): Promise<void> {
  const { config, clock, db, log, ownerConnection, runChange, sealer } = foundation
  const { ahead } = await migrateDatabase(ownerConnection, { log })
  const isBehind = ahead.length > 0
  if (isBehind) log.warn({ migrations: ahead.map(({ name }) => name) }, 'database.newer_schema')
  await prepareAsOwner(foundation, isBehind)
  await assertTablesFound(db)
  await foundation.synchroniseClock()
  await assertMasterKeyFits(foundation)
  await followOrigin(foundation)
  await warnOfAsynchronousStandbys(foundation)
  await runChange({ actor: SYSTEM_ACTOR }, (change) =>
    ensureSigningKey(change, { sealer, modulusBits: config.signingKeyBits }),
  )
  await insertOrganisation(db, DEFAULT_ORGANISATION_NAME, clock.now())
  if (isBehind) return
  await runChange({ actor: SYSTEM_ACTOR }, syncReleaseData)
  await updatePreparation(db, fingerprint)
}

/** What only the owner of the tables can do. */
async function prepareAsOwner(foundation: Preparation, isBehind: boolean): Promise<void> {
  const { connection, ownerConnection, log, network } = foundation
  const owner = openDatabase<Schema>(ownerConnection, {
    network,
    poolMax: 1,
    ...toConnectionLog(log),
  })
  try {
    if (!isBehind) await syncReportingViews(owner.db)
    const role = roleOf(connection)
    if (role !== roleOf(ownerConnection)) await grantServiceRole(owner.db, role)
  } finally {
    await owner.close()
  }
}
