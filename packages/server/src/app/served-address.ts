/*
 * What a service that runs tells commands on the same data folder: the base URL it was started with, which may come
 * from flags that they do not get. Owns the file, and that nobody believes one that a killed service has left.
 */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { errorCodeOf } from '../platform/error-code-of.ts'
import { replaceFile } from '../platform/secrets/private-file.ts'

const servedSchema = z.object({ pid: z.int().positive(), base_url: z.url() })

const pathIn = (dataDir: string) => join(dataDir, 'service.json')

/**
 * Tells the address, in place of that of another process; answers what takes it back.
 *
 * @throws the error of a folder that cannot be written to
 */
export async function tellServedAddress(
  dataDir: string,
  baseUrl: string,
): Promise<() => Promise<void>> {
  await replaceFile(pathIn(dataDir), JSON.stringify({ pid: process.pid, base_url: baseUrl }))
  return async () => {
    if ((await readServed(dataDir))?.pid === process.pid) await rm(pathIn(dataDir), { force: true })
  }
}

/** The base URL of the service that runs on a data folder; undefined without one that is alive. */
export async function findServedAddress(dataDir: string): Promise<string | undefined> {
  const served = await readServed(dataDir)
  return served !== undefined && isAlive(served.pid) ? served.base_url : undefined
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
