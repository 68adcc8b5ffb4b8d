import { chmod, chown, lstat, mkdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomName } from './random-name.ts'
import { DatabaseStartError } from './database-start-error.ts'
import type { ServerAccount } from './server-account.ts'

/** The server never listens on a network: the number is only part of the socket's name. */
export const SOCKET_PORT = 5432

/** Of the systems that the service runs on, macOS has the least room for a socket's path: 104 with the end mark. */
const SOCKET_PATH_BYTES_MAX = 103
const RECORD_NAME = 'socket-directory'
const PRIVATE = 0o700

/**
 * A folder for the server's socket that only the server's account and root can enter: in `home`, or,
 * where that path is too long for a socket, a folder with an unguessable name below the system's
 * folder for temporary files, which `home` remembers.
 */
export async function prepareSocketDirectory(
  home: string,
  account: ServerAccount | undefined,
): Promise<string> {
  const inside = join(home, 'socket')
  if (isShortEnough(inside)) {
    await makePrivate(inside, account)
    return inside
  }
  const record = join(home, RECORD_NAME)
  const known = await readFile(record, 'utf8').catch(() => undefined)
  if (known !== undefined && (await isPrivate(known, account))) return known
  const outside = join(await findShortFolder(), `heliograph-${randomName(16)}`)
  await mkdir(outside, { mode: PRIVATE })
  await makePrivate(outside, account)
  await writeFile(record, outside, { mode: 0o600 })
  return outside
}

/** Leaves nothing behind outside of `home`. The server must have stopped. */
export async function removeSocketDirectory(home: string, directory: string): Promise<void> {
  if (directory.startsWith(home)) return
  await rm(join(home, RECORD_NAME), { force: true })
  await rmdir(directory).catch(() => undefined)
}

function isShortEnough(directory: string): boolean {
  const path = join(directory, `.s.PGSQL.${SOCKET_PORT}`)
  return Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX
}

async function makePrivate(path: string, account: ServerAccount | undefined): Promise<void> {
  await mkdir(path, { recursive: true, mode: PRIVATE })
  await chmod(path, PRIVATE)
  if (account !== undefined) await chown(path, account.uid, account.gid)
}

/** Temporary folders are shared: a name is trusted only when it is still our own private folder. */
async function isPrivate(path: string, account: ServerAccount | undefined): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined)
  const owner = account?.uid ?? process.getuid?.()
  return found?.isDirectory() === true && (found.mode & 0o777) === PRIVATE && found.uid === owner
}

async function findShortFolder(): Promise<string> {
  for (const folder of [tmpdir(), '/tmp', '/run']) {
    const name = join(folder, `heliograph-${'x'.repeat(22)}`)
    const found = await stat(folder).catch(() => undefined)
    if (found?.isDirectory() === true && (found.mode & 0o001) !== 0 && isShortEnough(name)) {
      return folder
    }
  }
  throw new DatabaseStartError(
    'The path of the data folder is too long for the socket of the database, and so is that of the folder for temporary files. Choose a shorter HELIOGRAPH_DATA_DIR.',
  )
}
