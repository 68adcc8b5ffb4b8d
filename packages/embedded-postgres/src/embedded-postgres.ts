/*
 * The embedded database: a real PostgreSQL server that this process starts, watches and stops. Owns
 * its files below the data folder, its account, its socket and its restarts. Does not own what is in
 * the database, nor who may use the data folder at the same time (`data-folder-lock.ts`).
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from './durations.ts'
import type { SocketConnection } from './socket-connection.ts'
import type { ServerLog } from './server-log.ts'
import { accessRulesPath, writeAccessRules } from './access-rules.ts'
import { chooseRuntime, type ProgramChoice } from './choose-runtime.ts'
import { prepareClusterHome } from './cluster-home.ts'
import { DatabaseStartError } from './database-start-error.ts'
import { explainStartFailure } from './explain-start-failure.ts'
import { tryLockFile } from './file-lock.ts'
import type { FileLock } from './file-lock.ts'
import {
  initialiseCluster,
  SUPERUSER,
  toClusterFolder,
  type ClusterName,
} from './initialise-cluster.ts'
import { stopLeftoverServer } from './leftover-server.ts'
import { describeOutdated, formatVersion } from './known-releases.ts'
import type { PostgresRuntime } from './postgres-runtime.ts'
import {
  APPLICATION_DATABASE,
  APPLICATION_ROLE,
  OWNER_ROLE,
  provisionDatabase,
  REPORTING_ROLE,
} from './provision-database.ts'
import { chooseServerAccount } from './server-account.ts'
import { describeServerFailure, isEarlierServerInTheWay } from './server-failure.ts'
import { launchServer } from './server-process.ts'
import type { ServerLaunch, ServerProcess } from './server-process.ts'
import { toServerArguments } from './server-settings.ts'
import { prepareSocketDirectory, removeSocketDirectory, SOCKET_PORT } from './socket-directory.ts'

export interface EmbeddedPostgresOptions {
  /** An existing folder. Its database is made at the first start. */
  readonly dataDir: string
  readonly log: ServerLog
  /** The most connections that the server takes; default 60. */
  readonly connectionsMax?: number
  /** False gives up durability for speed: only for databases that are thrown away. */
  readonly isDurable?: boolean
  /** Default `cluster`; `restoring` is for what becomes the database of the folder later. */
  readonly clusterName?: ClusterName
  /** Which PostgreSQL programs run it; default `auto`. */
  readonly programs?: ProgramChoice | undefined
  /** Called when the process of the server runs; it may be long until it takes connections. */
  readonly onLaunch?: (() => void) | undefined
  /** Gives the start up: the server is stopped and the start fails. What is started already is left alone. */
  readonly signal?: AbortSignal | undefined
}

export interface EmbeddedPostgres {
  /** For migrations: the role that owns the database and what is in it. */
  readonly owner: SocketConnection
  /** For the service: a role that may do what the owner granted it. */
  readonly connection: SocketConnection
  /** For a role that may read what it is granted in that database, and do nothing else. */
  readonly reporting: SocketConnection
  /** For work on the server itself, as its superuser. */
  readonly administration: SocketConnection
  /** The process of the server at present; undefined while it is being restarted. */
  serverPid(): number | undefined
  /** Stops the server and waits until it has ended. Safe to call twice. */
  stop(): Promise<void>
}

const CONNECTIONS_MAX = 60
/** How long an earlier server may take to go away. */
const EARLIER_SERVER_MAX_MS = 30 * SECOND_MS
const RESTART_DELAY_MIN_MS = 100
const RESTART_DELAY_MAX_MS = 10 * SECOND_MS
/** A server that ran this long was healthy: the next failure starts from the shortest delay. */
const HEALTHY_AFTER_MS = 60 * SECOND_MS

/**
 * Starts the database of a data folder, creating it when there is none, and keeps it running: a server
 * that dies is started again with growing delays until `stop`. Resolves when it takes connections.
 * Throws `DatabaseStartError` when it cannot run.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const home = await prepareClusterHome(options.dataDir)
  const lock = lockHome(home)
  try {
    const supervisor = new ServerSupervisor(await prepareServer(home, options), home, lock)
    await supervisor.start(options)
    return supervisor
  } catch (error) {
    lock.release()
    throw explainStartFailure(error)
  }
}

/** Two data folders may be copies that lead to one home: its own lock is what keeps servers apart. */
function lockHome(home: string): FileLock {
  const lock = tryLockFile(join(home, 'lock.sqlite'))
  if (lock !== undefined) return lock
  throw new DatabaseStartError(`The database in ${home} is in use by another process.`)
}

interface PreparedServer {
  readonly cluster: string
  readonly socketDirectory: string
  readonly runtime: PostgresRuntime
  readonly launch: Omit<ServerLaunch, 'ignoredPid'>
}

async function prepareServer(
  home: string,
  options: EmbeddedPostgresOptions,
): Promise<PreparedServer> {
  const { log, connectionsMax = CONNECTIONS_MAX, isDurable = true, programs = 'auto' } = options
  const cluster = toClusterFolder(home, options.clusterName ?? 'cluster')
  assertNotRestoring(home, cluster)
  await stopLeftoverServer(cluster, log)
  const account = await chooseServerAccount(cluster)
  const runtime = await chooseRuntime({ home, programs, isDurable })
  const isReserved = options.clusterName === 'restoring'
  await initialiseCluster({ home, cluster, isReserved, runtime, account, isDurable })
  await writeAccessRules(cluster, account)
  const socketDirectory = await prepareSocketDirectory(home, account)
  const settings = toServerArguments({
    accessRules: accessRulesPath(cluster),
    socketDirectory,
    connectionsMax,
    isDurable,
  })
  const administration = toConnection(socketDirectory, SUPERUSER, SUPERUSER)
  return {
    cluster,
    socketDirectory,
    runtime,
    launch: {
      program: runtime.postgres,
      args: ['-D', cluster, ...settings],
      account,
      administration,
      log,
    },
  }
}

/** A new, empty database in the place of one that was to be restored would look as if all were well. */
function assertNotRestoring(home: string, cluster: string): void {
  const restoring = toClusterFolder(home, 'restoring')
  if (cluster === restoring || existsSync(cluster) || !existsSync(restoring)) return
  throw new DatabaseStartError(
    `A backup was being restored into ${home} and is not complete. Run the restore again, or remove ${restoring} to begin with an empty database.`,
  )
}

function toConnection(host: string, user: string, database: string): SocketConnection {
  return { host, port: SOCKET_PORT, user, database }
}

/** Who waits for the start of a server, or wants it no more. */
type StartObserver = Pick<EmbeddedPostgresOptions, 'onLaunch' | 'signal'>

class ServerSupervisor implements EmbeddedPostgres {
  readonly connection: SocketConnection
  readonly owner: SocketConnection
  readonly reporting: SocketConnection
  readonly administration: SocketConnection
  readonly #prepared: PreparedServer
  readonly #log: ServerLog
  readonly #home: string
  readonly #lock: FileLock
  readonly #stopping = new AbortController()
  #server: ServerProcess | undefined
  #watch: Promise<void> = Promise.resolve()
  #stopped: Promise<void> | undefined
  // A process that ends without stopping in order must not leave its server behind.
  readonly #requestStop = () => this.#server?.requestStop()

  constructor(prepared: PreparedServer, home: string, lock: FileLock) {
    this.#prepared = prepared
    this.#log = prepared.launch.log
    this.#home = home
    this.#lock = lock
    this.administration = prepared.launch.administration
    this.connection = toConnection(prepared.socketDirectory, APPLICATION_ROLE, APPLICATION_DATABASE)
    this.owner = { ...this.connection, user: OWNER_ROLE }
    this.reporting = { ...this.connection, user: REPORTING_ROLE }
  }

  serverPid(): number | undefined {
    return this.#server?.pid
  }

  async start({ onLaunch, signal }: StartObserver): Promise<void> {
    process.once('exit', this.#requestStop)
    const giveUp = () => {
      this.#stopping.abort()
      void this.#server?.stop()
    }
    signal?.addEventListener('abort', giveUp)
    this.#warnOfOutdated()
    try {
      signal?.throwIfAborted()
      const server = await this.#launch(onLaunch)
      await provisionDatabase(this.administration)
      signal?.throwIfAborted()
      this.#watch = this.#keepRunning(server)
    } catch (error) {
      process.off('exit', this.#requestStop)
      await this.#server?.stop()
      throw error
    } finally {
      signal?.removeEventListener('abort', giveUp)
    }
  }

  #describe(): { version: string; programs: string } {
    const { version, folder } = this.#prepared.runtime
    return { version: formatVersion(version), programs: folder }
  }

  #warnOfOutdated(): void {
    const reason = describeOutdated(this.#prepared.runtime.version)
    if (reason === undefined) return
    this.#log.warn({ ...this.#describe(), reason }, 'database.server_outdated')
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    this.#stopping.abort()
    await this.#server?.stop()
    await this.#watch
    process.off('exit', this.#requestStop)
    await removeSocketDirectory(this.#home, this.#prepared.socketDirectory)
    this.#lock.release()
  }

  /** Starts the server; waits for an earlier one that is still going away. */
  async #launch(onLaunch?: () => void): Promise<ServerProcess> {
    const startMs = performance.now()
    for (let delayMs = RESTART_DELAY_MIN_MS; ; delayMs = Math.min(delayMs * 2, SECOND_MS)) {
      const ignoredPid = await stopLeftoverServer(this.#prepared.cluster, this.#log)
      this.#stopping.signal.throwIfAborted()
      const server = launchServer({ ...this.#prepared.launch, ignoredPid })
      this.#server = server
      onLaunch?.()
      if (await server.waitUntilReady()) {
        this.#log.info({ pid: server.pid, ...this.#describe() }, 'database.server_started')
        return server
      }
      await server.stop()
      this.#server = undefined
      const lines = await server.ended
      const isPatient = performance.now() - startMs < EARLIER_SERVER_MAX_MS
      if (!isPatient || !isEarlierServerInTheWay(lines)) {
        throw new DatabaseStartError(`The database does not start: ${describeServerFailure(lines)}`)
      }
      await sleep(delayMs, undefined, { signal: this.#stopping.signal })
    }
  }

  /** Resolves when `stop` was called; until then a server that ends is started again. */
  async #keepRunning(first: ServerProcess): Promise<void> {
    let server: ServerProcess | undefined = first
    let delayMs = RESTART_DELAY_MIN_MS
    while (!this.#isStopping()) {
      if (server !== undefined) {
        const startMs = performance.now()
        const lines = await server.ended
        if (this.#isStopping()) return
        this.#server = undefined
        this.#log.error({ reason: describeServerFailure(lines) }, 'database.server_died')
        if (performance.now() - startMs > HEALTHY_AFTER_MS) delayMs = RESTART_DELAY_MIN_MS
      }
      server = await this.#relaunch(delayMs)
      delayMs = Math.min(delayMs * 2, RESTART_DELAY_MAX_MS)
    }
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  async #relaunch(delayMs: number): Promise<ServerProcess | undefined> {
    try {
      await sleep(delayMs, undefined, { signal: this.#stopping.signal })
      return await this.#launch()
    } catch (error) {
      if (!this.#isStopping()) {
        this.#log.error({ err: error }, 'database.server_restart_failed')
      }
      return undefined
    }
  }
}
