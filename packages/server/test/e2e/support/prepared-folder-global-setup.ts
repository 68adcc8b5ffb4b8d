/* Where the data folder is made that the test files of a run copy: `prepared-folder.ts`. */
import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

const FOLDER_PREFIX = 'heliograph-prepared-'
/** Longer than a run takes. */
const LEFTOVER_AGE_MS = 6 * 3_600_000

declare module 'vitest' {
  interface ProvidedContext {
    readonly preparedFolder: string
  }
}

/** Makes an empty folder; answers the teardown, which leaves nothing behind. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await removeLeftovers()
  const folder = await mkdtemp(join(tmpdir(), FOLDER_PREFIX))
  await chmod(folder, 0o711)
  project.provide('preparedFolder', folder)
  return () => rm(folder, { recursive: true, force: true })
}

/** Of runs that were killed. */
async function removeLeftovers(): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(FOLDER_PREFIX))
  for (const folder of names.map((name) => join(tmpdir(), name))) {
    const found = await stat(folder).catch(() => undefined)
    const isLeft = found !== undefined && Date.now() - found.mtimeMs > LEFTOVER_AGE_MS
    // One of another user stays.
    if (isLeft) await rm(folder, { recursive: true, force: true }).catch(() => undefined)
  }
}
