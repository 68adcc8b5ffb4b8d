import { chown, readdir } from 'node:fs/promises'
import { join } from 'node:path'

const NOBODY = 65_534

/** Runs something as the user that a folder is given to with its files: nothing is read-only for root. */
export async function asUserOf(path: string, run: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return run()
  for (const name of ['', ...(await readdir(path))]) await chown(join(path, name), NOBODY, NOBODY)
  process.seteuid?.(NOBODY)
  try {
    await run()
  } finally {
    process.seteuid?.(0)
  }
}
