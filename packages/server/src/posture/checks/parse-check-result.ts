import { createHash } from 'node:crypto'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import { readOsqueryRow } from '../osquery/read-osquery-row.ts'
import { CHECK_ROW_STATUSES, CHECK_STATUS_COLUMN, type CheckRowStatus } from './check-definition.ts'

/** The verdict that one run of a check gives. The other statuses of a result are set by the service. */
export type CheckOutcome = 'passing' | 'failing' | 'errored' | 'unknown' | 'inapplicable'

/** What a device or another system answered for one check. */
export interface CheckAnswer {
  readonly rows: readonly unknown[]
  /** 0 is success, anything else an SQL error (osquery's `statuses`). */
  readonly statusCode: number
  /** osquery's own words about an error; empty without one. */
  readonly message: string
}

/** A row that fails, and the value that tells its issue apart from the others of the check. */
export interface FailingRow {
  /** Null for checks without a primary key column. */
  readonly issueValue: string | null
  readonly row: OsqueryRow
}

/** An answer as the service understands it. */
export interface ParsedCheckResult {
  readonly status: CheckOutcome
  /** The rows worth keeping, failing ones first, `RESULT_ROWS_MAX` at most. */
  readonly rows: readonly OsqueryRow[]
  readonly errorMessage: string | null
  /** One per issue; rows with the same value are merged, the first one counts. */
  readonly failures: readonly FailingRow[]
  /** Values of which this run cannot tell whether they still fail: their issues stay as they are. */
  readonly undecidedValues: ReadonlySet<string | null>
}

/** How many rows of one result are stored, and how many issues one result can open. */
export const RESULT_ROWS_MAX = 1_000
/** How many characters of one stored row are kept, names and values together. */
export const RESULT_ROW_LENGTH_MAX = 8_192
const ERROR_MESSAGE_LENGTH_MAX = 2_000
const ISSUE_VALUE_LENGTH_MAX = 400
const ISSUE_VALUE_HASH_LENGTH = 16

/**
 * Turns the answer of a device into a verdict. Every row carries its own in `KOLIDE_CHECK_STATUS`; an
 * SQL error, no row, and a row without a known verdict are errors and never failures. One failing row
 * makes the check fail; without one an error wins over `unknown`, that over a pass; the check is
 * inapplicable when every row is. All rows are judged, also those beyond what is stored.
 */
export function parseCheckResult(
  answer: CheckAnswer,
  primaryKeyColumn: string | null,
): ParsedCheckResult {
  if (answer.statusCode !== 0) {
    const message = toStorableText(answer.message.trim()).slice(0, ERROR_MESSAGE_LENGTH_MAX)
    return errored(message === '' ? `The query failed with status ${answer.statusCode}.` : message)
  }
  if (answer.rows.length === 0) return errored('The query answered no row.')
  const judged = answer.rows.map((value) => judgeRow(value))
  const status = decideOutcome(judged)
  const { failures, undecidedValues } = separateIssues(judged, primaryKeyColumn)
  return {
    status,
    rows: failingFirst(judged).map(({ row }) => boundRow(row, primaryKeyColumn)),
    errorMessage: status === 'errored' ? describeError(judged) : null,
    failures,
    undecidedValues,
  }
}

function failingFirst(rows: readonly JudgedRow[]): readonly JudgedRow[] {
  if (rows.length === 1) return rows
  return rows
    .toSorted((a, b) => Number(b.verdict === 'FAIL') - Number(a.verdict === 'FAIL'))
    .slice(0, RESULT_ROWS_MAX)
}

interface JudgedRow {
  readonly row: OsqueryRow
  readonly verdict: CheckRowStatus
  /** Why the verdict is `ERROR` although the row does not say so itself. */
  readonly problem?: string
}

function errored(errorMessage: string): ParsedCheckResult {
  return { status: 'errored', rows: [], errorMessage, failures: [], undecidedValues: new Set() }
}

const VERDICTS = new Map<string, CheckRowStatus>(CHECK_ROW_STATUSES.map((word) => [word, word]))

function judgeRow(value: unknown): JudgedRow {
  const row = readOsqueryRow(value)
  const word = row[CHECK_STATUS_COLUMN]
  if (word === undefined) {
    return { row, verdict: 'ERROR', problem: `A row has no ${CHECK_STATUS_COLUMN}.` }
  }
  const verdict = VERDICTS.get(word) ?? VERDICTS.get(word.trim().toUpperCase())
  if (verdict !== undefined) return { row, verdict }
  return {
    row,
    verdict: 'ERROR',
    problem: `A row has the unknown ${CHECK_STATUS_COLUMN} "${word.slice(0, 100)}".`,
  }
}

function decideOutcome(rows: readonly JudgedRow[]): CheckOutcome {
  const has = (wanted: CheckRowStatus) => rows.some(({ verdict }) => verdict === wanted)
  if (has('FAIL')) return 'failing'
  if (has('ERROR')) return 'errored'
  if (has('UNKNOWN')) return 'unknown'
  return has('PASS') ? 'passing' : 'inapplicable'
}

function describeError(rows: readonly JudgedRow[]): string {
  const problem = rows.find((row) => row.problem !== undefined)?.problem
  return problem ?? 'The check reported an error of its own.'
}

const NO_ISSUES: Pick<ParsedCheckResult, 'failures' | 'undecidedValues'> = {
  failures: [],
  undecidedValues: new Set(),
}

function separateIssues(
  rows: readonly JudgedRow[],
  primaryKeyColumn: string | null,
): Pick<ParsedCheckResult, 'failures' | 'undecidedValues'> {
  if (rows.every(({ verdict }) => verdict === 'PASS' || verdict === 'INAPPLICABLE'))
    return NO_ISSUES
  const failures = new Map<string | null, FailingRow>()
  const undecidedValues = new Set<string | null>()
  for (const { row, verdict } of rows) {
    const issueValue = toIssueValue(row, primaryKeyColumn)
    if (verdict === 'ERROR' || verdict === 'UNKNOWN') undecidedValues.add(issueValue)
    if (verdict !== 'FAIL' || failures.has(issueValue)) continue
    if (failures.size < RESULT_ROWS_MAX) {
      failures.set(issueValue, { issueValue, row: boundRow(row, primaryKeyColumn) })
    } else {
      undecidedValues.add(issueValue)
    }
  }
  return { failures: [...failures.values()], undecidedValues }
}

/** Long values keep their beginning and stay distinct by a hash: they are part of a unique index. */
function toIssueValue(row: OsqueryRow, primaryKeyColumn: string | null): string | null {
  const value = primaryKeyColumn === null ? undefined : row[primaryKeyColumn]
  if (value === undefined) return null
  if (value.length <= ISSUE_VALUE_LENGTH_MAX) return value
  const hash = createHash('sha256').update(value).digest('hex').slice(0, ISSUE_VALUE_HASH_LENGTH)
  return `${value.slice(0, ISSUE_VALUE_LENGTH_MAX).toWellFormed()}…${hash}`
}

/** Keeps the verdict and the primary key, then columns in their order until the row is full. */
function boundRow(row: OsqueryRow, primaryKeyColumn: string | null): OsqueryRow {
  const entries = Object.entries(row)
  let length = 0
  for (const [name, value] of entries) length += name.length + value.length
  if (length <= RESULT_ROW_LENGTH_MAX) return row
  const isKey = (name: string) => name === CHECK_STATUS_COLUMN || name === primaryKeyColumn
  const ordered = entries.toSorted(([a], [b]) => Number(isKey(b)) - Number(isKey(a)))
  const kept: OsqueryRow = {}
  let rest = RESULT_ROW_LENGTH_MAX
  for (const [name, value] of ordered) {
    if (rest <= name.length) break
    const part = value.slice(0, rest - name.length).toWellFormed()
    kept[name] = part
    rest -= name.length + part.length
  }
  return kept
}
