/*
 * Decides whether a text is one SELECT over the reporting tables. The text is parsed with PostgreSQL's own
 * grammar, and every node, member, function, type, operator, relation and column of its tree must be one
 * that is known. It is the first of two walls: what passes runs as a role that can read the reporting
 * views and nothing else (`sandbox/`).
 */
import { checkExpression } from './sql/check-expression.ts'
import { checkSelect } from './sql/check-select.ts'
import type { TableScope } from './sql/name-scope.ts'
import { parseSelect } from './sql/parse-select.ts'
import type { SqlCheck } from './sql/sql-check.ts'
import { listViewColumns } from './reporting-table.ts'
import { REPORTING_TABLES } from './reporting-tables.ts'

const TABLES: TableScope = new Map(
  REPORTING_TABLES.map((table) => [table.name, listViewColumns(table)]),
)

const CHECK: SqlCheck = {
  expression: (value, place) => checkExpression(value, place, CHECK),
  select: (members, place) => checkSelect(members, place, CHECK),
}

/**
 * Passes when the SQL may be saved and run, and answers the statement alone, without what follows it.
 *
 * @throws AppError `invalid_body` saying what is not allowed and what is
 */
export async function checkReportingSql(text: string): Promise<string> {
  const statement = await parseSelect(text)
  CHECK.select(statement.members, { columns: undefined, tables: TABLES, depth: 0 })
  return statement.text
}
