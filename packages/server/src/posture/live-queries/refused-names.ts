/*
 * Tables and functions of osquery that SQL of admins may not name, because they do more than read: they send
 * requests from the device, or collect its files. What the service asks by itself is not held to it.
 */
import { AppError } from '../../platform/app-error.ts'
import { analyseLiveQuery } from './analyse-live-query.ts'
import { scanSql } from '../osquery/scan-sql.ts'

/** Names in lower case. */
export type RefusedNames = ReadonlySet<string>

/**
 * The refused names in a text of SQL, in alphabetical order: as a table, however it is quoted, and as any other
 * name, so that a column of that name is refused as well. All of them for a text that is no SQL.
 */
export function listRefusedNames(sql: string, refused: RefusedNames): string[] {
  if (refused.size === 0) return []
  const scanned = scanSql(sql)
  if (scanned.kind === 'broken') return [...refused].sort()
  const analysed = analyseLiveQuery(sql)
  const names = new Set(analysed.kind === 'query' ? analysed.tablesUsed : [])
  for (const { kind, text } of scanned.tokens) {
    if (kind === 'word' || kind === 'quoted_name') names.add(text.toLowerCase())
  }
  return [...names].filter((name) => refused.has(name)).sort()
}

/**
 * @throws AppError `invalid_body` for SQL with a refused name; `field` is where it stands in the body
 */
export function assertNamesAllowed(sql: string, refused: RefusedNames, field: string): void {
  const problem = describeRefusedNames(sql, refused)
  if (problem === undefined) return
  throw new AppError('invalid_body', `${field}: ${problem}`, {
    details: [{ path: field, message: problem }],
  })
}

/** What is wrong with the names in a text of SQL, as a sentence; undefined when nothing is. */
export function describeRefusedNames(sql: string, refused: RefusedNames): string | undefined {
  const names = listRefusedNames(sql, refused)
  if (names.length === 0) return undefined
  return `The SQL names ${names.join(', ')}, which the operator of the service refuses (HELIOGRAPH_REFUSED_TABLES).`
}
