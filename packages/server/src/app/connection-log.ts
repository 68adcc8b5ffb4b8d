import { MINUTE_MS } from '../platform/clock.ts'
import type { DatabaseOptions } from '../platform/db/database.ts'
import type { Logger } from '../platform/logger.ts'

/** Logs what is wrong with connections to the database. */
export function toConnectionLog(
  log: Pick<Logger, 'warn'>,
): Pick<DatabaseOptions, 'logError' | 'logUnprepared'> {
  return {
    logError: (error) => log.warn({ err: error }, 'a database connection broke'),
    logUnprepared: (error, afterMs) =>
      log.warn(
        { err: error },
        `a pooler keeps no prepared statements: none are prepared for ${afterMs / MINUTE_MS} minutes, which costs CPU time`,
      ),
  }
}
