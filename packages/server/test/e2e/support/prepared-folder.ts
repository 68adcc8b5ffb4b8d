/*
 * A data folder as a first start leaves it, to copy: to make one takes more than half of the CPU time of a first start,
 * so it is made once for all test files of a run. Owns the folder that is copied; first starts themselves are what
 * `npm-start.e2e.test.ts` and `demo.e2e.test.ts` make.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import { tryLockFile } from '../../../../embedded-postgres/src/file-lock.ts'
import { reservePort } from '../../support/reserve-ports.ts'
import './prepared-folder-global-setup.ts'
import { ServiceProcess } from './service-process.ts'

const LOOK_EVERY_MS = 50

/** A folder of its own for a test file, with a data folder `data` that a service has used before. */
export async function createPreparedFolder(prefix: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  // As root the database runs as another user, who must be able to pass through.
  await chmod(folder, 0o711)
  // Owners and rights of the files are those of the database.
  if (process.platform !== 'win32') {
    await promisify(execFile)('cp', ['-a', await findPrepared(), join(folder, 'data')])
  }
  return folder
}

/** The first that asks makes it, while the others wait. */
async function findPrepared(): Promise<string> {
  const shared = inject('preparedFolder')
  const prepared = join(shared, 'data')
  for (;;) {
    const lock = tryLockFile(join(shared, 'lock'))
    if (lock === undefined) {
      await sleep(LOOK_EVERY_MS)
      continue
    }
    try {
      if (!existsSync(prepared)) await rename(await startOnce(shared), prepared)
      return prepared
    } finally {
      lock.release()
    }
  }
}

async function startOnce(shared: string): Promise<string> {
  const dataDir = await mkdtemp(join(shared, 'unfinished-'))
  await chmod(dataDir, 0o711)
  const service = new ServiceProcess({
    dataDir,
    port: await reservePort(),
    environment: { HELIOGRAPH_LOG_LEVEL: 'warn' },
  })
  try {
    await service.start()
  } catch (error) {
    await service.stop()
    throw error
  }
  const exitCode = await service.stop()
  if (exitCode !== 0) throw new Error(`the service that was started once ended with ${exitCode}`)
  return dataDir
}
