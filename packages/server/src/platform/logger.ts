import type { FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'

/** What must never reach a log, wherever it stands in what is logged. */
const REDACTED_PATHS = [
  'authorization',
  '*.authorization',
  'headers.authorization',
  'req.headers.authorization',
  'node_key',
  '*.node_key',
  'enroll_secret',
  '*.enroll_secret',
  'token',
  '*.token',
  'secret',
  '*.secret',
]

/** What logs; the loggers of pino fit. */
export type Logger = FastifyBaseLogger

/** A logger of JSON lines to `destination`, the standard error by default. */
export function createLogger(
  level: string,
  destination: NodeJS.WritableStream = process.stderr,
): Logger {
  return pino(
    {
      level,
      base: null,
      redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  )
}
