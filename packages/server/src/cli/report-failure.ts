import { DatabaseStartError } from '@heliograph/embedded-postgres'
import { ConfigError } from '../app/config/load-config.ts'
import { AppError } from '../platform/app-error.ts'
import { MigrationError } from '../schema/migration-error.ts'
import { findDatabaseFault } from '../platform/db/database-fault.ts'
import { isAccessRefusal } from '../platform/db/unavailable.ts'
import { EXIT_CODES, toTerminalText, type CommandIo } from './command-io.ts'

const MISSING_RIGHTS =
  'The role of DATABASE_URL needs a database that it owns, or HELIOGRAPH_MIGRATION_DATABASE_URL with the role that does, which gives it its rights.'

/** Tells on the standard error why a command failed. Returns the exit code. */
export function reportFailure(error: unknown, io: CommandIo): number {
  if (error instanceof ConfigError) return tell(io, error.message, EXIT_CODES.usage)
  if (error instanceof DatabaseStartError || error instanceof MigrationError) {
    return tell(io, error.message, EXIT_CODES.unavailable)
  }
  if (isAccessRefusal(error)) {
    const advice = findDatabaseFault(error)?.advice ?? MISSING_RIGHTS
    return tell(
      io,
      `The database refused access: ${error.message}. ${advice}`,
      EXIT_CODES.unavailable,
    )
  }
  if (error instanceof AppError) {
    const code = error.kind === 'unavailable' ? EXIT_CODES.unavailable : EXIT_CODES.failed
    return tell(io, error.message, code)
  }
  const fault = findDatabaseFault(error)
  if (fault !== undefined) {
    return tell(io, `${fault.message} ${fault.advice} (${toText(error)})`, EXIT_CODES.unavailable)
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return tell(io, `Unexpected fault: ${text}`, EXIT_CODES.failed)
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function tell(io: CommandIo, message: string, exitCode: number): number {
  io.stderr.write(`${toTerminalText(message)}\n`)
  return exitCode
}
