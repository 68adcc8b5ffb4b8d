import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepareClusterHome } from '../src/platform/db/embedded/cluster-home.ts'
import type { BenchRun } from './scenario.ts'

/** A data folder that is removed with everything in it when the run is cleaned up. */
export async function createTemporaryDataFolder(run: BenchRun): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'heliograph-bench-'))
  // As root the database runs as another user, who passes through; nobody but the owner can list it.
  await chmod(dataDir, 0o711)
  run.cleanup.add(async () => {
    const home = await prepareClusterHome(dataDir)
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  })
  return dataDir
}
