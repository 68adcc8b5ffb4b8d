import { assertParsable, loadParser } from './measure-sql.ts'
import { nestedTooDeeply } from './sql-check.ts'
import { readNode, refusedSql, type Json, type Members } from './sql-tree.ts'

/** One SELECT: its tree, and its text without what follows its end. */
export interface ParsedSelect {
  readonly members: Members
  readonly text: string
}

interface Statement {
  readonly stmt?: unknown
  /** In bytes of UTF-8; left out for zero, and for the length when the text ends with the statement. */
  readonly stmt_location?: number
  readonly stmt_len?: number
}

/**
 * Parses a text that is one SELECT, by PostgreSQL's own grammar.
 *
 * @throws AppError `invalid_body`
 */
export async function parseSelect(text: string): Promise<ParsedSelect> {
  await assertParsable(text)
  const statements = await parseStatements(text)
  const [only] = statements
  if (statements.length !== 1 || only?.stmt === undefined) throw noSelect()
  const { kind, members } = readNode(only.stmt as Json)
  if (kind !== 'SelectStmt') throw noSelect()
  const bytes = Buffer.from(text)
  const start = only.stmt_location ?? 0
  const end = only.stmt_len === undefined ? bytes.length : start + only.stmt_len
  return { members, text: bytes.subarray(start, end).toString() }
}

async function parseStatements(text: string): Promise<readonly Statement[]> {
  const { hasSqlDetails, parse } = await loadParser()
  try {
    const result = (await parse(text)) as { stmts?: Statement[] }
    return result.stmts ?? []
  } catch (error) {
    if (!hasSqlDetails(error)) throw nestedTooDeeply()
    const cursor = error.sqlDetails?.cursorPosition
    const position = cursor === undefined ? '' : ` at position ${cursor}`
    throw refusedSql(`cannot be understood: ${error.message}${position}`)
  }
}

function noSelect(): Error {
  return refusedSql('must be one SELECT statement')
}
