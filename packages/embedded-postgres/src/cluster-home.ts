import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, realpath, stat, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseStartError } from './database-start-error.ts'
import { isRoot } from './server-account.ts'

/** Where the server's files go when its user cannot reach the data folder. */
const SYSTEM_HOME = '/var/lib/heliograph'
const LINK_NAME = 'postgres'
const OTHERS_MAY_PASS = 0o001

/**
 * The folder of the embedded database, created when it is missing: `<data folder>/postgres`. As root
 * the server runs as another user, who may not reach the data folder (a checkout below /root, for
 * example); then the name is a link to a folder of its own below /var/lib. Nobody else can list it.
 */
export async function prepareClusterHome(dataDir: string): Promise<string> {
  const data = await realpath(dataDir)
  const home = join(data, LINK_NAME)
  const existing = await lstat(home).catch(() => undefined)
  if (existing !== undefined) return openExisting(home)
  if (!isRoot()) {
    await mkdir(home, { mode: 0o700 })
    return home
  }
  if (await canOthersReach(data)) {
    await makePassable(home)
    return home
  }
  const hash = createHash('sha256').update(data).digest('hex').slice(0, 16)
  const target = join(SYSTEM_HOME, hash)
  if ((await lstat(target).catch(() => undefined)) !== undefined) {
    throw new DatabaseStartError(
      `${target} holds the database of a data folder that was at ${data} before. Make ${home} a link to it to use that database, or move it away to begin with an empty one.`,
    )
  }
  await makePassable(SYSTEM_HOME)
  await makePassable(target)
  await symlink(target, home)
  return target
}

/** A link that leads nowhere must never be answered with a new, empty database. */
async function openExisting(home: string): Promise<string> {
  try {
    return await realpath(home)
  } catch (error) {
    throw new DatabaseStartError(
      `${home} is a link to a folder that does not exist; the database of this data folder is missing. Restore that folder, or remove the link to begin with an empty database.`,
      { cause: error },
    )
  }
}

/** A folder that others may pass through to what is theirs, and not list. */
async function makePassable(path: string): Promise<void> {
  await mkdir(path, { recursive: true })
  await chmod(path, 0o711)
}

async function canOthersReach(path: string): Promise<boolean> {
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode } = await stat(folder)
    if ((mode & OTHERS_MAY_PASS) === 0) return false
    if (folder === dirname(folder)) return true
  }
}
