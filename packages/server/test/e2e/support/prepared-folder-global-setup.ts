/* Where the data folder is made that the test files of a run copy: `prepared-folder.ts`. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    readonly preparedFolder: string
  }
}

/** Makes an empty folder; answers the teardown, which leaves nothing behind. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'heliograph-prepared-'))
  await chmod(folder, 0o711)
  project.provide('preparedFolder', folder)
  return () => rm(folder, { recursive: true, force: true })
}
