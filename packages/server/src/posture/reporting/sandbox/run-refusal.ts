import { AppError } from '../../../platform/app-error.ts'
import { SECOND_MS } from '../../../platform/clock.ts'
import { errorCodeOf } from '../../../platform/error-code-of.ts'
import { ResultTooLarge, StatementTooSlow, type SessionLimits } from './reporting-session-store.ts'

const QUERY_CANCELED = '57014'

/** Classes of SQLSTATEs that speak of the query: cardinality, data, syntax, features, limits of the language. */
const FAULTS_OF_QUERY = /^(?:21|22|2F|42|0A|54)/

/** A query needs more than there is: of memory, of disk; XX000 is a value of more than a gigabyte. */
const TOO_EXPENSIVE = /^(?:53200|53400|53100|XX000)$/

/**
 * The refusal for a query that failed; other errors, such as those of the connection, as they are. PostgreSQL's
 * text on a user's own SQL is public: it speaks of nothing else.
 */
export function toRunRefusal(error: unknown, limits: SessionLimits): unknown {
  if (error instanceof ResultTooLarge) {
    return conflict(
      `The result is larger than ${limits.bytes} bytes, as large as one may be. Select fewer columns or rows.`,
      error,
    )
  }
  const code = errorCodeOf(error)
  if (code === QUERY_CANCELED || error instanceof StatementTooSlow) {
    const seconds = limits.statementTimeoutMs / SECOND_MS
    return conflict(`The query took longer than ${seconds} seconds and was stopped.`, error)
  }
  if (TOO_EXPENSIVE.test(code)) {
    return conflict('The query needs more memory or disk than the database has for it.', error)
  }
  if (error instanceof Error && FAULTS_OF_QUERY.test(code)) {
    return conflict(`The query failed: ${error.message}.`, error)
  }
  return error
}

function conflict(message: string, cause: unknown): AppError {
  return new AppError('conflict', message, { cause })
}
