import { execFile } from 'node:child_process'
import { chown, lchown, mkdir, open, readFile, readdir, rename, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { randomName } from './random-name.ts'
import { DatabaseStartError } from './database-start-error.ts'
import type { PostgresRuntime } from './postgres-runtime.ts'
import { findNamedAccount, toUnsignedId } from './server-account.ts'
import type { ServerAccount } from './server-account.ts'
import { describeServerFailure } from './server-failure.ts'

/** The role that owns the server; the service itself works as a role without such rights. */
export const SUPERUSER = 'postgres'

const UNFINISHED_PREFIX = 'unfinished-'

/** The database of a folder, or what becomes it when a restore is complete. */
export type ClusterName = 'cluster' | 'restoring'

export function toClusterFolder(home: string, name: ClusterName): string {
  return join(home, name)
}

export interface ClusterOptions {
  readonly home: string
  readonly cluster: string
  /** The folder is there, empty, and is to be taken: a restore has begun. */
  readonly isReserved: boolean
  readonly runtime: PostgresRuntime
  readonly account: ServerAccount | undefined
  readonly isDurable: boolean
}

/**
 * Creates the cluster unless it exists. It is made elsewhere and renamed when it is complete, so a
 * process that dies half-way leaves nothing that looks like a database. Throws `DatabaseStartError`
 * when an existing cluster is of another major version.
 */
export async function initialiseCluster(options: ClusterOptions): Promise<void> {
  const { home, cluster, isReserved, runtime, account } = options
  await removeUnfinished(home)
  if (existsSync(cluster) && !isReserved) return assertVersion(cluster, runtime)
  const unfinished = join(home, UNFINISHED_PREFIX + randomName(6))
  await mkdir(unfinished, { mode: 0o700 })
  try {
    const creator = account === undefined ? undefined : await findNamedAccount()
    if (creator !== undefined) {
      await chown(unfinished, toUnsignedId(creator.uid), toUnsignedId(creator.gid))
    }
    await runInitdb(options, unfinished, creator)
    if (account !== undefined) await chownTree(unfinished, account)
    await rename(unfinished, cluster)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
  if (options.isDurable) await syncFolder(home)
}

/**
 * The `initdb` of a killed process goes on writing for a moment and fails when its files are gone.
 * What cannot be removed meanwhile is removed at the next start.
 */
async function removeUnfinished(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    if (!name.startsWith(UNFINISHED_PREFIX)) continue
    const options = { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }
    await rm(join(home, name), options).catch(() => undefined)
  }
}

async function assertVersion(cluster: string, runtime: PostgresRuntime): Promise<void> {
  const text = await readFile(join(cluster, 'PG_VERSION'), 'utf8')
  const version = Number.parseInt(text, 10)
  if (version === runtime.version.major) return
  throw new DatabaseStartError(
    `The database in ${cluster} is of PostgreSQL ${version}, and this program runs PostgreSQL ${runtime.version.major}. Back it up with the program that made it, and restore the backup into an empty data folder.`,
  )
}

function runInitdb(
  { runtime, isDurable }: ClusterOptions,
  folder: string,
  creator: ServerAccount | undefined,
): Promise<void> {
  const args = [
    `--pgdata=${folder}`,
    `--username=${SUPERUSER}`,
    // Only until the rules of access-rules.ts are written.
    '--auth-local=trust',
    '--auth-host=reject',
    '--encoding=UTF8',
    // The same order and case rules on every machine; --locale=C alone would make ILIKE know only ASCII.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    ...(isDurable ? [] : ['--no-sync']),
  ]
  return new Promise((resolve, reject) => {
    const settings = { ...creator, cwd: '/', env: SERVER_ENVIRONMENT, encoding: 'utf8' as const }
    execFile(runtime.initdb, args, settings, (error, stdout, stderr) => {
      if (error === null) {
        resolve()
        return
      }
      const reason = describeServerFailure(`${stdout}\n${stderr}`.split('\n'))
      reject(new DatabaseStartError(`The database cannot be created: ${reason}`, { cause: error }))
    })
  })
}

/** Nothing of this process's environment reaches the server: PG* variables would change what it does. */
export const SERVER_ENVIRONMENT = { LC_ALL: 'C', PATH: '/usr/bin:/bin', TZ: 'UTC' } as const

async function chownTree(folder: string, { uid, gid }: ServerAccount): Promise<void> {
  const entries = await readdir(folder, { recursive: true })
  for (const entry of entries) await lchown(join(folder, entry), uid, gid)
  await chown(folder, uid, gid)
}

/** Makes a rename in the folder survive power loss. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
