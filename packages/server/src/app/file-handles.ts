/*
 * How many files and connections the system lets this process open. Node.js raises its soft limit to the hard one by
 * itself, so that what is read here is what there is.
 */
import { readFileSync } from 'node:fs'
import type { Logger } from '../platform/logger.ts'

/** A thousand devices, their connections to be, deliveries, the database and the files of the program. */
const FILE_HANDLES_MIN = 4_096

/** The limit of open files as Linux tells it; undefined where it does not. */
export function readFileHandleLimit(path = '/proc/self/limits'): number | undefined {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync(path, 'utf8')) ?? []
    return limit === undefined ? undefined : Number(limit)
  } catch {
    return undefined
  }
}

/** Warns of a limit at which connections would be refused. */
export function warnOfFewFileHandles(limit: number | undefined, log: Pick<Logger, 'warn'>): void {
  if (limit === undefined || limit >= FILE_HANDLES_MIN) return
  log.warn(
    { open_files_max: limit, recommended: FILE_HANDLES_MIN },
    'few files may be open: every connection of a device, client, receiver and database takes one. Raise the limit (LimitNOFILE of systemd, ulimit -n, nofile of the container)',
  )
}
