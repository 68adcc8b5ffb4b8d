import type { Logger } from './logger.ts'

/** The logger of whoever prints failures itself, as a command does. */
export const SILENT_LOGGER: Logger = {
  level: 'silent',
  silent: writeNothing,
  fatal: writeNothing,
  error: writeNothing,
  warn: writeNothing,
  info: writeNothing,
  debug: writeNothing,
  trace: writeNothing,
  child: () => SILENT_LOGGER,
}

function writeNothing(): void {
  // Nobody reads it.
}
