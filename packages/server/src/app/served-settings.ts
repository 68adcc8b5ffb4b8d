/*
 * What a service that runs tells commands on the same data folder: the base URL that it was started with and which
 * targets it may reach, which may come from flags that they do not get. Owns the file, and that nobody believes one
 * whose process is gone.
 */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { errorCodeOf } from '../platform/error-code-of.ts'
import { replaceFile } from '../platform/secrets/private-file.ts'
import type { Config } from './config/load-config.ts'

const servedSchema = z.object({
  pid: z.int().positive(),
  base_url: z.url(),
  allowed_targets: z.string().default(''),
})

/** The settings of a service that commands on its data folder go by where they are given none. */
export type ServedSettings = Pick<Config, 'baseUrl' | 'allowedTargets'>

const pathIn = (dataDir: string) => join(dataDir, 'service.json')

/**
 * Tells the settings, in place of those of another process; answers what takes it back.
 *
 * @throws the error of a folder that cannot be written to
 */
export async function tellServedSettings(
  dataDir: string,
  { baseUrl, allowedTargets }: ServedSettings,
): Promise<() => Promise<void>> {
  const told = { pid: process.pid, base_url: baseUrl, allowed_targets: allowedTargets }
  await replaceFile(pathIn(dataDir), JSON.stringify(told))
  return async () => {
    if ((await readServed(dataDir))?.pid === process.pid) await rm(pathIn(dataDir), { force: true })
  }
}

/** The settings of the service that runs on a data folder; undefined without one that is alive. */
export async function findServedSettings(dataDir: string): Promise<ServedSettings | undefined> {
  const served = await readServed(dataDir)
  return served !== undefined && isAlive(served.pid)
    ? { baseUrl: served.base_url, allowedTargets: served.allowed_targets }
    : undefined
}

/** What is not readable tells nothing: the command then names what its own settings say. */
async function readServed(dataDir: string): Promise<z.infer<typeof servedSchema> | undefined> {
  try {
    return servedSchema.parse(JSON.parse(await readFile(pathIn(dataDir), 'utf8')))
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCodeOf(error) === 'EPERM'
  }
}
