/*
 * Which PostgreSQL programs run the embedded database: those that came with this program, or newer ones of the
 * same major version that the operating system keeps up to date.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { DatabaseStartError } from './database-start-error.ts'
import { SECOND_MS } from './durations.ts'
import { SERVER_ENVIRONMENT } from './initialise-cluster.ts'
import {
  formatVersion,
  MAJOR_VERSION,
  parseVersion,
  type PostgresVersion,
} from './known-releases.ts'
import {
  findRuntimePackage,
  hostSystem,
  installRuntime,
  type PostgresRuntime,
} from './postgres-runtime.ts'

/**
 * `auto`: the programs of the operating system where they are newer than those that came along; `bundled`: those
 * that came along; else the folder of the programs `postgres` and `initdb`.
 */
export type ProgramChoice = string

/** Where an operating system keeps the programs of a major version, and its extensions. */
interface SystemFolders {
  readonly programs: string
  readonly extensions: string
}

/** Debian and Ubuntu, also with the packages of apt.postgresql.org; and those of yum.postgresql.org. */
const SYSTEM_FOLDERS: readonly SystemFolders[] = [
  {
    programs: `/usr/lib/postgresql/${MAJOR_VERSION}/bin`,
    extensions: `/usr/share/postgresql/${MAJOR_VERSION}/extension`,
  },
  {
    programs: `/usr/pgsql-${MAJOR_VERSION}/bin`,
    extensions: `/usr/pgsql-${MAJOR_VERSION}/share/extension`,
  },
]
/** Belongs to the additional modules (contrib), which some systems package apart. */
const ADDITIONAL_MODULE = 'pg_trgm.control'

const VERSION_TIMEOUT_MS = 10 * SECOND_MS

export interface RuntimeOptions {
  readonly home: string
  readonly programs: ProgramChoice
  readonly isDurable: boolean
  /** For tests; those of the operating systems that are known when it is left out. */
  readonly systemFolders?: readonly SystemFolders[]
}

/**
 * The programs to run, ready to be run by the server's account. Must be called by one process at a time. Throws
 * `DatabaseStartError` when there are none, or those that are asked for are of another major version.
 */
export async function chooseRuntime({
  home,
  programs,
  isDurable,
  systemFolders = SYSTEM_FOLDERS,
}: RuntimeOptions): Promise<PostgresRuntime> {
  if (programs !== 'auto' && programs !== 'bundled') return openFolder(resolve(programs))
  const system = programs === 'auto' ? await findNewest(systemFolders) : undefined
  if (system === undefined) return installRuntime(home, isDurable)
  const bundled = findBundledVersion()
  const isNewer = bundled === undefined || system.version.minor > bundled.minor
  return isNewer ? system : installRuntime(home, isDurable)
}

/** What came with this program; undefined when nothing did, as on a system that it does not know. */
function findBundledVersion(): PostgresVersion | undefined {
  try {
    return parseVersion(findRuntimePackage(hostSystem()).version)
  } catch (error) {
    if (error instanceof DatabaseStartError) return undefined
    throw error
  }
}

async function findNewest(folders: readonly SystemFolders[]): Promise<PostgresRuntime | undefined> {
  let newest: PostgresRuntime | undefined
  for (const { programs, extensions } of folders) {
    if (!isComplete(programs) || !existsSync(join(extensions, ADDITIONAL_MODULE))) continue
    const version = await readVersion(programs)
    if (version?.major !== MAJOR_VERSION) continue
    if (newest === undefined || version.minor > newest.version.minor) {
      newest = toRuntime(programs, version)
    }
  }
  return newest
}

async function openFolder(folder: string): Promise<PostgresRuntime> {
  const version = isComplete(folder) ? await readVersion(folder) : undefined
  if (version === undefined) {
    throw new DatabaseStartError(
      `HELIOGRAPH_POSTGRES_PROGRAMS: ${folder} does not hold the programs postgres and initdb, or they cannot be run.`,
    )
  }
  if (version.major !== MAJOR_VERSION) {
    throw new DatabaseStartError(
      `HELIOGRAPH_POSTGRES_PROGRAMS: ${folder} holds PostgreSQL ${formatVersion(version)}; the embedded database needs PostgreSQL ${MAJOR_VERSION}. Any from 15 on works with DATABASE_URL.`,
    )
  }
  return toRuntime(folder, version)
}

function toRuntime(folder: string, version: PostgresVersion): PostgresRuntime {
  return { postgres: join(folder, 'postgres'), initdb: join(folder, 'initdb'), version, folder }
}

function isComplete(folder: string): boolean {
  return ['postgres', 'initdb'].every((program) => existsSync(join(folder, program)))
}

async function readVersion(folder: string): Promise<PostgresVersion | undefined> {
  try {
    const settings = { cwd: '/', env: SERVER_ENVIRONMENT, timeout: VERSION_TIMEOUT_MS }
    const { stdout } = await promisify(execFile)(join(folder, 'postgres'), ['--version'], settings)
    return parseVersion(stdout)
  } catch {
    return undefined
  }
}
