import { mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/**
 * Makes a folder and those above it where they are missing; answers whether it did. Not by `recursive`, which tries for
 * ever in a file system that refuses by ENOENT, such as /proc.
 */
export async function makeFolder(path: string, mode: number): Promise<boolean> {
  try {
    await mkdir(path, { mode })
    return true
  } catch (error) {
    if (await isFolder(path)) return false
    const parent = dirname(resolve(path))
    const isParentMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isParentMissing || (await isFolder(parent))) throw error
    await makeFolder(parent, mode)
    return makeFolder(path, mode)
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
