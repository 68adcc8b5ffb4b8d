/*
 * What a service that runs tells commands on the same data folder: the base URL that it was started with and which
 * targets it may reach, which may come from flags that they do not get. Owns the file, and that nobody believes one
 * whose process is gone, also where another one has its number, or whose database is another.
 */
import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { errorCodeOf } from '../platform/error-code-of.ts'
import { replaceFile } from '../platform/secrets/private-file.ts'
import type { Config } from './config/load-config.ts'

const servedSchema = z.object({
  pid: z.int().positive(),
  /** Tells the process from a later one with its number; null where the system does not say. */
  started: z.string().nullable(),
  database: z.string().nullable(),
  base_url: z.url(),
  allowed_targets: z.string(),
})

/** The settings of a service that commands on its data folder go by where they are given none. */
export type ServedSettings = Pick<Config, 'baseUrl' | 'allowedTargets'>

/** Where commands and a service find each other: the same folder, and the same database. */
type Place = Pick<Config, 'dataDir' | 'databaseUrl'>

const pathIn = (dataDir: string) => join(dataDir, 'service.json')

/**
 * Tells the settings, in place of those of another process; answers what takes it back.
 *
 * @throws the error of a folder that cannot be written to
 */
export async function tellServedSettings({
  dataDir,
  databaseUrl,
  baseUrl,
  allowedTargets,
}: ServedSettings & Place): Promise<() => Promise<void>> {
  const told: z.infer<typeof servedSchema> = {
    pid: process.pid,
    started: (await findStart(process.pid)) ?? null,
    database: toDatabaseMark(databaseUrl),
    base_url: baseUrl,
    allowed_targets: allowedTargets,
  }
  await replaceFile(pathIn(dataDir), JSON.stringify(told))
  return async () => {
    const served = await readServed(dataDir)
    const isOwn = served?.pid === told.pid && served.started === told.started
    if (isOwn) await rm(pathIn(dataDir), { force: true })
  }
}

/** The settings of the service that runs on a data folder and database; undefined without one that is alive. */
export async function findServedSettings({
  dataDir,
  databaseUrl,
}: Place): Promise<ServedSettings | undefined> {
  const served = await readServed(dataDir)
  if (served === undefined || served.database !== toDatabaseMark(databaseUrl)) return undefined
  const isAlive =
    isRunning(served.pid) && served.started === ((await findStart(served.pid)) ?? null)
  return isAlive ? { baseUrl: served.base_url, allowedTargets: served.allowed_targets } : undefined
}

/** What is not readable tells nothing: the command then names what its own settings say. */
async function readServed(dataDir: string): Promise<z.infer<typeof servedSchema> | undefined> {
  try {
    return servedSchema.parse(JSON.parse(await readFile(pathIn(dataDir), 'utf8')))
  } catch {
    return undefined
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCodeOf(error) === 'EPERM'
  }
}

/** `starttime`, in ticks since the boot, of the fields of `/proc/PID/stat` behind the name, which may hold anything. */
const START_FIELD = 19

async function findStart(pid: number): Promise<string | undefined> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return status.slice(status.lastIndexOf(')') + 2).split(' ')[START_FIELD]
}

/** Tells databases apart, whoever connects to them; null for the embedded one. Hashed, as it may hold a password. */
function toDatabaseMark(databaseUrl: string | undefined): string | null {
  if (databaseUrl === undefined) return null
  const [address = '', query] = databaseUrl.replace(/^\w+:\/\/(?:[^/?]*@)?/u, '').split('?')
  const parameters = new URLSearchParams(query)
  const place = ['host', 'port', 'dbname'].map((name) => parameters.get(name))
  return createHash('sha256')
    .update(JSON.stringify([address, ...place]))
    .digest('base64url')
}
