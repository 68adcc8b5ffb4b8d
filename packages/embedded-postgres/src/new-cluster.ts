/*
 * A database that takes its place in a data folder only when it is complete: it is made beside that place and
 * renamed. Owns the rename and what a process that was killed leaves; does not own what is put into it.
 */
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { prepareClusterHome } from './cluster-home.ts'
import { findDataFolderHolder, tryLockDataFolder } from './data-folder-lock.ts'
import { DatabaseStartError } from './database-start-error.ts'
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres.ts'
import { syncFolder, toClusterFolder } from './initialise-cluster.ts'
import { stopLeftoverServer } from './leftover-server.ts'
import { inUse, prepareDataFolder } from './open-data-folder.ts'
import type { ServerLog } from './server-log.ts'
import type { SocketConnection } from './socket-connection.ts'

export interface NewCluster {
  /** The role that owns the database and what is in it. */
  readonly owner: SocketConnection
  /** The superuser, in the same database. */
  readonly administration: SocketConnection
  /** Stops the server and makes this the database of the folder, at once and durably. */
  finish(): Promise<void>
  /** Stops the server and removes what was made. Safe after `finish`, and then does nothing. */
  discard(): Promise<void>
}

export interface NewClusterOptions {
  /** Created when it is missing. */
  readonly dataDir: string
  readonly log: ServerLog
  /** Which PostgreSQL programs run it: `auto` (default), `bundled`, or a folder. */
  readonly programs?: string | undefined
}

/**
 * Starts an empty database for a data folder that has none. Nobody else can use the folder until it is finished
 * or discarded; what an earlier process left unfinished is removed.
 *
 * @throws DatabaseStartError for a folder that has a database, is in use, or cannot be used
 */
export async function startNewCluster(options: NewClusterOptions): Promise<NewCluster> {
  const { log } = options
  const folder = resolve(options.dataDir)
  await prepareDataFolder(folder)
  const lock = await tryLockDataFolder(folder, 'command')
  if (lock === undefined) throw inUse(folder, await findDataFolderHolder(folder))
  try {
    const home = await prepareClusterHome(folder)
    const cluster = toClusterFolder(home, 'cluster')
    const restoring = toClusterFolder(home, 'restoring')
    if (existsSync(cluster)) throw hasOne(folder)
    await stopLeftoverServer(restoring, log)
    await removeFolder(restoring)
    // From now on nobody begins with an empty database here, also when this process is killed.
    await mkdir(restoring, { mode: 0o700 })
    const server = await startReserved({ ...options, dataDir: folder }, restoring)
    return toNewCluster(server, { home, cluster, restoring }, () => lock.release())
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function startReserved(
  options: NewClusterOptions,
  restoring: string,
): Promise<EmbeddedPostgres> {
  try {
    return await startEmbeddedPostgres({ ...options, clusterName: 'restoring' })
  } catch (error) {
    await removeFolder(restoring)
    throw error
  }
}

interface Places {
  readonly home: string
  readonly cluster: string
  readonly restoring: string
}

function toNewCluster(
  server: EmbeddedPostgres,
  { home, cluster, restoring }: Places,
  release: () => Promise<void>,
): NewCluster {
  let isOver = false
  return {
    owner: server.owner,
    administration: { ...server.administration, database: server.connection.database },
    async finish() {
      await server.stop()
      await rename(restoring, cluster)
      isOver = true
      await syncFolder(home)
      await release()
    },
    async discard() {
      if (isOver) return
      isOver = true
      await server.stop()
      await removeFolder(restoring)
      await release()
    },
  }
}

function hasOne(dataDir: string): DatabaseStartError {
  return new DatabaseStartError(
    `The data folder ${dataDir} has a database, which is not overwritten. Choose another HELIOGRAPH_DATA_DIR, or move ${join(dataDir, 'postgres')} away.`,
  )
}

async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
}
