import type { OsqueryRow } from '../../schema/tables/column-types.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import { readOsqueryRow } from '../osquery/read-osquery-row.ts'
import { LIVE_RESULT_LENGTH_MAX, LIVE_RESULT_ROWS_MAX } from './live-query.ts'

/** What an agent says of one query. */
export interface LiveAnswer {
  readonly rows: readonly unknown[]
  readonly statusCode: number
  readonly message: string
}

/** What is kept of an answer. */
export interface LiveResult {
  readonly state: 'successful' | 'errored'
  readonly rows: readonly OsqueryRow[]
  readonly errorMessage: string | null
  /** Set when the device had more than is kept. */
  readonly warningMessage: string | null
}

/**
 * Decides what an answer means. A status other than 0 is an error in the agent's words, also when it
 * has denylisted the query. Of a successful one, rows are kept up to their number and length.
 */
export function judgeLiveResult({ rows, statusCode, message }: LiveAnswer): LiveResult {
  if (statusCode !== 0) {
    const words = toStorableText(message.trim())
    const errorMessage = words === '' ? `The query ended with the status ${statusCode}.` : words
    return { state: 'errored', rows: [], errorMessage, warningMessage: null }
  }
  const kept = takeWithinLength(rows.slice(0, LIVE_RESULT_ROWS_MAX).map(readOsqueryRow))
  const warningMessage = kept.length === rows.length ? null : describeCut(kept.length, rows.length)
  return { state: 'successful', rows: kept, errorMessage: null, warningMessage }
}

function describeCut(keptCount: number, rowCount: number): string {
  const isCutByLength = keptCount < Math.min(rowCount, LIVE_RESULT_ROWS_MAX)
  const bound = isCutByLength
    ? `${LIVE_RESULT_LENGTH_MAX} characters`
    : `${LIVE_RESULT_ROWS_MAX} rows`
  return `The device had more than the ${keptCount} rows that are kept: at most ${bound} per device.`
}

function takeWithinLength(rows: readonly OsqueryRow[]): OsqueryRow[] {
  const kept: OsqueryRow[] = []
  let length = 2
  for (const row of rows) {
    length += JSON.stringify(row).length + 1
    if (length > LIVE_RESULT_LENGTH_MAX) break
    kept.push(row)
  }
  return kept
}
