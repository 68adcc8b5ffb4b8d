import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeDataFolder } from '@heliograph/embedded-postgres'
import { SILENT_LOGGER } from '../src/platform/silent-logger.ts'
import type { BenchRun } from './scenario.ts'

/** A data folder that is removed with everything in it when the run is cleaned up. */
export async function createTemporaryDataFolder(run: BenchRun): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'heliograph-bench-'))
  // As root the database runs as another user, who passes through; nobody but the owner can list it.
  await chmod(dataDir, 0o711)
  run.cleanup.add(() => removeDataFolder(dataDir, SILENT_LOGGER))
  return dataDir
}
