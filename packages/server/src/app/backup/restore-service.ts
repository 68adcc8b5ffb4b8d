/*
 * A restore: a backup becomes the database of a data folder that has none, or of an empty database elsewhere. The
 * backup is checked whole before anything is touched, and the data folder gets the database in one rename, when it
 * is loaded, brought up to date and taken into use.
 */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeDataFolder, startNewCluster } from '@heliograph/embedded-postgres'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { verifyAuditChain } from '../../changes/audit/verify-audit-chain.ts'
import {
  assertFileIsWhole,
  openBackup,
  type OpenedBackup,
} from '../../platform/backup/backup-files.ts'
import { assertNoRows, assertUnused, loadBackup } from '../../platform/backup/load-backup.ts'
import { layPartitions } from '../../platform/backup/partition-layout-store.ts'
import { withDatabaseClient } from '../../platform/backup/with-database-client.ts'
import type { DatabaseConnection } from '../../platform/db/connection.ts'
import { DatabaseNetwork } from '../../platform/db/database-network.ts'
import { openDatabase } from '../../platform/db/database.ts'
import { SynchronisedClock, toTimeSource } from '../../platform/db/synchronised-clock.ts'
import type { MasterKeys } from '../../platform/secrets/master-key.ts'
import { SILENT_LOGGER } from '../../platform/silent-logger.ts'
import { assertMigrationsKnown, migrateDatabase } from '../../schema/migrate.ts'
import type { Schema } from '../../schema/schema.ts'
import { deleteRestoreMark, markUnfinishedRestore } from '../../schema/unfinished-restore-store.ts'
import { assertSigningKeysOpen } from '../../signals/signing/signing-keys.ts'
import { assertOwnerOfOneDatabase } from '../assert-one-database.ts'
import type { Config } from '../config/load-config.ts'
import { createFoundation, toOwnerConnection, type OpenedFoundation } from '../foundation.ts'
import { adoptRestoredDatabase, type Adoption } from './adopt-restored-database.ts'
import { deleteOrigin, findOrigin, upsertOrigin } from './database-origin-store.ts'
import { findKeysOf } from './backup-keys.ts'

export interface RestoreOptions {
  readonly folder: string
  readonly passphrase: string | undefined
  readonly onProgress: (text: string) => void
  readonly signal: AbortSignal
}

/** Tables that have a row as soon as migrations have made them. */
const SEEDED_TABLES: readonly string[] = ['audit_chain']

/** A backup that was restored, or would be. */
export interface RestoredBackup extends Adoption {
  readonly backupId: string
  readonly takenAt: string
  readonly tables: number
  readonly rows: number
  readonly auditEntries: number
  /** What is wrong with the audit log, which was so when it was backed up; undefined when it is whole. */
  readonly auditProblem: string | undefined
  /** The file that the master keys were written to. */
  readonly masterKeyFile: string | undefined
}

/**
 * Restores a backup into the database of a configuration.
 *
 * @throws AppError `conflict` for a backup that is damaged, for other keys, and where there are rows or a service
 * already; MigrationError for a backup of a newer program; ConfigError for an owner's address of another database;
 * DatabaseStartError for a data folder that has a database
 */
export async function restoreService(
  config: Config,
  options: RestoreOptions,
): Promise<RestoredBackup> {
  const backup = await openWholeBackup(options)
  const restoredKeys = await findKeysOf(backup, config, options.passphrase)
  const { keys, file: masterKeyFile } = restoredKeys
  const load = (target: RestoreTarget) => loadInto(target, backup, { ...options, config, keys })
  if (config.databaseUrl !== undefined) {
    await assertOwnerOfOneDatabase(config)
    const owner = toOwnerConnection(config, { url: config.databaseUrl })
    await assertNoRows(owner, SEEDED_TABLES)
    // As the service, whose connections others may not see.
    await assertUnused({ url: config.databaseUrl })
    await restoredKeys.save()
    return { ...(await load({ owner, administration: owner })), masterKeyFile }
  }
  const { dataDir, postgresPrograms: programs } = config
  const cluster = await startNewCluster({ dataDir, log: SILENT_LOGGER, programs })
  try {
    const restored = await load(cluster)
    await restoredKeys.save()
    options.signal.throwIfAborted()
    await cluster.finish()
    return { ...restored, masterKeyFile }
  } finally {
    await cluster.discard()
  }
}

/** Restores a backup into a database that is thrown away: the proof that it can be restored. */
export async function rehearseRestore(
  config: Config,
  options: RestoreOptions,
): Promise<RestoredBackup> {
  const backup = await openWholeBackup(options)
  const { keys } = await findKeysOf(backup, config, options.passphrase)
  const dataDir = await mkdtemp(join(tmpdir(), 'heliograph-rehearsal-'))
  const programs = config.postgresPrograms
  const cluster = await startNewCluster({ dataDir, log: SILENT_LOGGER, programs })
  try {
    const restored = await loadInto(cluster, backup, { ...options, config, keys })
    return { ...restored, masterKeyFile: undefined }
  } finally {
    await cluster.discard()
    await removeDataFolder(dataDir, SILENT_LOGGER)
  }
}

/** Nothing of the target is touched before all of the backup is known to be what was written. */
async function openWholeBackup({
  folder,
  onProgress,
  signal,
}: RestoreOptions): Promise<OpenedBackup> {
  const backup = await openBackup(folder)
  await assertMigrationsKnown(backup.manifest.migrations)
  for (const [done, table] of backup.manifest.tables.entries()) {
    onProgress(`Checking ${table.file} (${done + 1} of ${backup.manifest.tables.length}) ...`)
    await assertFileIsWhole(folder, table, signal)
  }
  return backup
}

interface RestoreTarget {
  /** As whoever owns the tables; the service gets its rights when it starts. */
  readonly owner: DatabaseConnection
  /** As whoever may load it. */
  readonly administration: DatabaseConnection
}

interface Loading extends Pick<RestoreOptions, 'onProgress' | 'signal'> {
  readonly config: Config
  readonly keys: MasterKeys
}

async function loadInto(
  { owner, administration }: RestoreTarget,
  backup: OpenedBackup,
  { config, keys, onProgress, signal }: Loading,
): Promise<Omit<RestoredBackup, 'masterKeyFile'>> {
  const { manifest } = backup
  const upTo = manifest.migrations.at(-1)?.version ?? 0
  onProgress('Making the schema ...')
  await migrateDatabase(owner, { log: SILENT_LOGGER, isRestoring: true, upTo })
  await withDatabaseClient(owner, 'heliograph restore', markUnfinishedRestore)
  await withDatabaseClient(owner, 'heliograph restore', (client) =>
    layPartitions(client, manifest.partitions),
  )
  await loadBackup(backup, { connection: administration, onProgress, signal })
  onProgress('Bringing the schema up to date ...')
  await migrateDatabase(owner, { log: SILENT_LOGGER, isRestoring: true })
  const result = await withFoundation(config, owner, keys, (foundation) =>
    takeIntoUse(foundation, backup, onProgress),
  )
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
  const { id: backupId, taken_at: takenAt } = manifest
  return { backupId, takenAt, tables: manifest.tables.length, rows, ...result }
}

async function withFoundation<Result>(
  config: Config,
  connection: DatabaseConnection,
  masterKeys: MasterKeys,
  work: (foundation: OpenedFoundation) => Promise<Result>,
): Promise<Result> {
  const network = new DatabaseNetwork()
  const database = openDatabase<Schema>(connection, {
    network,
    poolMax: 2,
    logError: () => undefined,
    // Every device is locked at once, and the audit log read from its beginning.
    statementTimeoutMs: 0,
  })
  try {
    const clock = new SynchronisedClock(toTimeSource(database.preparedDb))
    await clock.synchronise()
    return await work(
      createFoundation(config, {
        ...database,
        clock,
        synchroniseClock: () => clock.synchronise(),
        log: SILENT_LOGGER,
        masterKeys,
        connection,
        network,
      }),
    )
  } finally {
    await database.close()
  }
}

async function takeIntoUse(
  { auditChainer, db, sealer, runChange }: OpenedFoundation,
  { manifest }: OpenedBackup,
  onProgress: (text: string) => void,
): Promise<Adoption & Pick<RestoredBackup, 'auditEntries' | 'auditProblem'>> {
  await assertSigningKeysOpen(db, sealer)
  // Entries that waited for their place in the chain when they were backed up.
  await auditChainer.flush()
  const verdict = await verifyAuditChain(db, {
    onProgress: (count) => onProgress(`Verified ${count} audit entries ...`),
  })
  const auditProblem = verdict.isWhole
    ? undefined
    : `entry ${verdict.sequence ?? verdict.entryCount}: ${verdict.problem}`
  const origin = await findOrigin(db)
  const adoption = await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    await deleteRestoreMark(change.tx)
    // What the backup says of it is where the rows come from.
    if (origin === undefined) await deleteOrigin(change.tx)
    else await upsertOrigin(change.tx, origin)
    return adoptRestoredDatabase(change, {
      description: `restored the database to its state of ${manifest.taken_at}`,
      facts: {
        backup_id: manifest.id,
        backup_taken_at: manifest.taken_at,
        audit_entries: verdict.entryCount,
        audit_head: verdict.isWhole ? verdict.head : null,
        audit_problem: auditProblem ?? null,
      },
    })
  })
  await auditChainer.flush()
  return { ...adoption, auditEntries: verdict.entryCount, auditProblem }
}
