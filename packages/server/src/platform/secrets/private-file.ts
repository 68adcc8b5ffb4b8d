/**
 * Writes files that hold secrets: complete or not at all, on disk before the call answers, readable by the
 * owner only. Knows nothing of their contents.
 */
import { randomUUID } from 'node:crypto'
import { link, mkdir, open, rename, stat, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCodeOf } from '../error-code-of.ts'

const PRIVATE_MODE = 0o600
const PRIVATE_FOLDER_MODE = 0o700

/**
 * Creates the file with these contents unless it exists; answers whether this call created it. Of several
 * processes that call at once exactly one creates the file. The folder is created too.
 */
export async function createPrivateFile(path: string, contents: string): Promise<boolean> {
  const temporary = await writeTemporary(path, contents, PRIVATE_MODE)
  try {
    // A link, unlike a rename, fails when the name is taken.
    await link(temporary, path)
    await syncFolder(dirname(path))
    return true
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    await unlink(temporary)
  }
}

/** Replaces the file, or creates it; readers see the old or the new contents, never a part. */
export async function replaceFile(
  path: string,
  contents: string,
  mode = PRIVATE_MODE,
): Promise<void> {
  const temporary = await writeTemporary(path, contents, mode)
  try {
    await rename(temporary, path)
  } catch (error) {
    await unlink(temporary)
    throw error
  }
  await syncFolder(dirname(path))
}

/** True when others than the owner may read or write the file; always false on Windows, which has no modes. */
export async function isReadableByOthers(path: string): Promise<boolean> {
  if (process.platform === 'win32') return false
  const { mode } = await stat(path)
  return (mode & 0o077) !== 0
}

async function writeTemporary(path: string, contents: string, mode: number): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER_MODE })
  const temporary = `${path}.${randomUUID()}.tmp`
  const file = await open(temporary, 'wx', mode)
  try {
    await file.writeFile(contents)
    await file.sync()
  } catch (error) {
    await unlink(temporary)
    throw error
  } finally {
    await file.close()
  }
  return temporary
}

/** Puts the names in a folder on disk: without this a power cut can forget them although the contents are. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
