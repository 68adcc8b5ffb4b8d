import { lstatSync, mkdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * Keeps compiled modules in the cache folder of the user, so that the next start is faster. In no folder
 * that others may write to: what is in it is run. Does nothing where there is none.
 */
export function keepCompiledModules(
  environment: Readonly<Record<string, string | undefined>>,
): void {
  if (environment['NODE_COMPILE_CACHE'] !== undefined) return
  const folder = join(environment['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'heliograph')
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = lstatSync(folder)
    const isOurs = process.getuid === undefined || uid === process.getuid()
    if (isOurs && (mode & 0o022) === 0) enableCompileCache(folder)
  } catch {
    // A user without a home, or a home that is read-only: the start takes a little longer.
  }
}
