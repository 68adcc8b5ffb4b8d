/*
 * Whether a text is a query that a check can run. Owns the form: one statement in SQLite's grammar that
 * names what a check has to answer. Which tables and columns a device has is known to the device only;
 * a query that names others is an errored result there.
 */
import { DatabaseSync } from 'node:sqlite'
import { CHECK_STATUS_COLUMN } from '../check-definition.ts'

/** The longest query of a check, in UTF-16 code units. */
export const QUERY_LENGTH_MAX = 16 * 1024

// Every alternative ends at the end of the text at the latest, so that the scan is linear.
const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|\[[^\]]*(?:\]|$)|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|\d[\w.]*|\s+|[\s\S]/g

/** What keeps a query from being run as a check, in plain words; empty when nothing does. */
export function listQueryProblems(sql: string, primaryKeyColumn: string | null): readonly string[] {
  if (sql.length > QUERY_LENGTH_MAX) return [`Must be at most ${QUERY_LENGTH_MAX} characters long.`]
  const tokens = (sql.match(TOKEN) ?? []).filter((token) => !isBlank(token))
  const first = tokens[0]?.toUpperCase()
  if (first !== 'SELECT' && first !== 'WITH') return ['Must be a SELECT.']
  const end = tokens.indexOf(';')
  if (end !== -1 && tokens.slice(end).some((token) => token !== ';')) {
    return ['Must be a single statement.']
  }
  const syntaxProblem = findSyntaxProblem(sql)
  if (syntaxProblem !== undefined) return [`The SQL cannot be parsed: ${syntaxProblem}.`]
  return listColumnProblems(tokens, primaryKeyColumn)
}

/**
 * As the body of a view a statement is parsed, but no name in it is looked up: that would need
 * osquery's tables, and can take exponential time.
 */
function findSyntaxProblem(sql: string): string | undefined {
  const database = new DatabaseSync(':memory:')
  try {
    database.prepare(`create view query as ${sql}`)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    database.close()
  }
}

function listColumnProblems(tokens: readonly string[], primaryKeyColumn: string | null): string[] {
  const names = new Set(tokens.flatMap((token) => toName(token) ?? []))
  const problems: string[] = []
  if (!names.has(CHECK_STATUS_COLUMN)) {
    problems.push(`Must answer a column ${CHECK_STATUS_COLUMN}.`)
  }
  if (primaryKeyColumn !== null && !names.has(primaryKeyColumn) && !tokens.includes('*')) {
    problems.push(`Must answer the primary key column ${primaryKeyColumn}.`)
  }
  return problems
}

function isBlank(token: string): boolean {
  return token.startsWith('--') || token.startsWith('/*') || token.trim() === ''
}

/** What an identifier names. A text in single quotes names a column after AS, so it counts as well. */
function toName(token: string): string | undefined {
  if (/^[A-Za-z_\u0080-\uffff]/.test(token)) return token
  return /^["'`[]/.test(token) ? token.slice(1, -1) : undefined
}
