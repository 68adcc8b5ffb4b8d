import { lstatSync, statSync } from 'node:fs'
import { chmod, readdir, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from './durations.ts'
import type { EmbeddedPostgres } from './embedded-postgres.ts'
import type { SocketConnection } from './socket-connection.ts'
import type { ServerLog } from './server-log.ts'
import {
  findDataFolderHolder,
  readJsonFile,
  tryLockDataFolder,
  writePrivateFile,
} from './data-folder-lock.ts'
import type { DataFolderHolder, DataFolderLock, DataFolderPurpose } from './data-folder-lock.ts'
import { DatabaseStartError } from './database-start-error.ts'
import { explainRefusedFolder } from './explain-refused-folder.ts'
import { makeFolder } from './make-folder.ts'
import { isRoot } from './server-account.ts'

export interface OpenDataFolderOptions {
  /** Created when it is missing; readable by its owner alone. */
  readonly dataDir: string
  readonly purpose: DataFolderPurpose
  readonly log: ServerLog
  /** The most connections that the server takes; default 60. */
  readonly connectionsMax?: number
  /** Which PostgreSQL programs run it: `auto` (default), `bundled`, or a folder. */
  readonly programs?: string | undefined
  /** Called when the process of a server that is started here runs; it may be long until it takes connections. */
  readonly onLaunch?: (() => void) | undefined
  /** Gives the opening up, which then fails and leaves no server behind. */
  readonly signal?: AbortSignal | undefined
}

export interface OpenDataFolder {
  readonly connection: SocketConnection
  /** Stops the database if this process started it, and gives the folder back. Safe to call twice. */
  stop(): Promise<void>
}

/**
 * Whether a data folder has a database, wherever its files lie.
 *
 * @throws DatabaseStartError for a folder that this user may not look into
 */
export function hasDatabase(dataDir: string): boolean {
  return isThere(dataDir, () => statSync(join(resolve(dataDir), 'postgres', 'cluster')))
}

/**
 * Whether nothing of a database is in a data folder, which may be missing. False for one that is being made, and for
 * a link to a database that is gone.
 *
 * @throws DatabaseStartError for a folder that this user may not look into
 */
export function isWithoutDatabase(dataDir: string): boolean {
  return !isThere(dataDir, () => lstatSync(join(resolve(dataDir), 'postgres')))
}

/** What cannot be looked at is not there, unless it is this user who may not look. */
function isThere(dataDir: string, look: () => unknown): boolean {
  try {
    look()
    return true
  } catch (error) {
    const explained = explainRefusedFolder(resolve(dataDir), error)
    if (explained !== error) throw explained
    return false
  }
}

/** A command is short: a service that starts meanwhile waits this long for its end. */
const SERVICE_WAITS_MS = 15 * SECOND_MS
/** A service that starts needs this long at most to open its database, unless it recovers from a crash. */
const COMMAND_WAITS_MS = 60 * SECOND_MS
const POLL_MS = 50

/**
 * Opens the embedded database of a data folder. A service takes the folder for itself; a command uses
 * the database of the service that runs, and without one starts it for as long as it works. Throws
 * `DatabaseStartError`, which names the process that has the folder where that is the reason.
 */
export async function openDataFolder(options: OpenDataFolderOptions): Promise<OpenDataFolder> {
  const { purpose } = options
  const dataDir = resolve(options.dataDir)
  await prepareDataFolder(dataDir)
  const waitMs = purpose === 'service' ? SERVICE_WAITS_MS : COMMAND_WAITS_MS
  const endMs = performance.now() + waitMs
  for (;;) {
    options.signal?.throwIfAborted()
    const lock = await tryLockDataFolder(dataDir, purpose)
    if (lock !== undefined) return openAsHolder({ ...options, dataDir }, lock)
    const holder = await findDataFolderHolder(dataDir)
    if (purpose === 'command' && holder?.purpose === 'service') {
      const connection = await findRunningDatabase(dataDir, holder.pid)
      if (connection !== undefined) return { connection, stop: () => Promise.resolve() }
    }
    const isHopeless = purpose === 'service' && holder?.purpose === 'service'
    if (isHopeless || performance.now() > endMs) throw inUse(dataDir, holder)
    await sleep(POLL_MS)
  }
}

/**
 * As root the server runs as another user, who must be able to pass through the folder. A folder that
 * is new or empty is set up so; one with files in it keeps the mode that somebody chose for it.
 */
export async function prepareDataFolder(dataDir: string): Promise<void> {
  const mode = isRoot() ? 0o711 : 0o700
  try {
    if ((await makeFolder(dataDir, mode)) || (await isEmptyOfRoot(dataDir)))
      await chmod(dataDir, mode)
  } catch (error) {
    const explained = explainRefusedFolder(dataDir, error)
    if (explained !== error) throw explained
    const reason = error instanceof Error ? error.message : String(error)
    throw new DatabaseStartError(`The data folder ${dataDir} cannot be used: ${reason}`, {
      cause: error,
    })
  }
}

async function isEmptyOfRoot(folder: string): Promise<boolean> {
  if (!isRoot() || (await stat(folder)).uid !== 0) return false
  return (await readdir(folder)).length === 0
}

async function openAsHolder(
  options: OpenDataFolderOptions,
  lock: DataFolderLock,
): Promise<OpenDataFolder> {
  const path = runningDatabasePath(options.dataDir)
  let server: EmbeddedPostgres | undefined
  try {
    // Loaded where a server is started: beside a service that runs, no command starts one.
    const { startEmbeddedPostgres } = await import('./embedded-postgres.ts')
    const started = await startEmbeddedPostgres(options)
    server = started
    const { connection } = started
    const running: RunningDatabase = { pid: process.pid, connection }
    await writePrivateFile(path, running)
    return {
      connection,
      async stop() {
        await rm(path, { force: true })
        await started.stop()
        await lock.release()
      },
    }
  } catch (error) {
    await server?.stop()
    await lock.release()
    throw error
  }
}

/** What the holder of a folder tells of its database. */
interface RunningDatabase {
  readonly pid: number
  readonly connection: SocketConnection
}

/** Where the holder of the folder tells how to reach the database while it runs. */
function runningDatabasePath(dataDir: string): string {
  return join(dataDir, 'database.json')
}

/**
 * A file of a service that was killed names another process, and is of no use. The holder wrote it
 * whole, and nobody else may write it.
 */
async function findRunningDatabase(
  dataDir: string,
  holderPid: number,
): Promise<SocketConnection | undefined> {
  const running = (await readJsonFile(runningDatabasePath(dataDir))) as
    RunningDatabase | null | undefined
  return running?.pid === holderPid ? running.connection : undefined
}

export function inUse(dataDir: string, holder: DataFolderHolder | undefined): DatabaseStartError {
  const who =
    holder === undefined
      ? 'another process'
      : `a ${holder.purpose} that runs as process ${holder.pid} since ${holder.since}`
  return new DatabaseStartError(
    `The data folder ${dataDir} is in use by ${who}. Stop it first, or choose another HELIOGRAPH_DATA_DIR.`,
  )
}
