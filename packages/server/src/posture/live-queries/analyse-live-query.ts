/*
 * What a live query may be and which tables it names, read from its tokens without a grammar: one
 * statement that reads, since it runs inside `select * from (...)`. A table is what stands where SQLite
 * expects one: after FROM, JOIN or a comma between them, and after IN. Names that a WITH defines and
 * functions that stand for tables are none. A WITH name hides an equal table in the whole statement,
 * although SQLite hides it only where the name is visible.
 */
import { scanSql, type SqlToken } from '../osquery/scan-sql.ts'

export type AnalysedQuery =
  | {
      readonly kind: 'query'
      /** The statement without the semicolon and what follows it. */
      readonly statement: string
      /** In lower case, each once, in alphabetical order. */
      readonly tablesUsed: readonly string[]
    }
  | { readonly kind: 'refused'; readonly message: string }

const READING = ['SELECT', 'WITH', 'VALUES']
const WRITING = new Set(['INSERT', 'UPDATE', 'DELETE', 'REPLACE'])

/** Words after which no table follows until the next FROM or JOIN of the same parentheses. */
const ENDS_FROM = new Set(
  'SELECT WHERE GROUP HAVING WINDOW ORDER LIMIT UNION EXCEPT INTERSECT VALUES'.split(' '),
)
const NOT_A_NAME = new Set('SELECT WITH VALUES LATERAL NOT INDEXED'.split(' '))

/** Decides whether a text can be run as a live query. */
export function analyseLiveQuery(sql: string): AnalysedQuery {
  const scanned = scanSql(sql)
  if (scanned.kind === 'broken') {
    return refused(`cannot be understood at character ${scanned.position + 1}: ${scanned.message}`)
  }
  const end = scanned.tokens.findIndex((token) => isSign(token, ';'))
  const tokens = end < 0 ? scanned.tokens : scanned.tokens.slice(0, end)
  const isAlone = end < 0 || scanned.tokens.slice(end).every((token) => isSign(token, ';'))
  const [first] = tokens
  const last = tokens.at(-1)
  if (first === undefined || last === undefined) return refused('must not be empty')
  if (!isAlone) return refused('must be one statement')
  if (!READING.includes(keywordOf(first))) return refused('must be a SELECT')
  const problem = findProblem(tokens)
  if (problem !== undefined) return refused(problem)
  return {
    kind: 'query',
    statement: sql.slice(first.start, last.end),
    tablesUsed: listTables(tokens),
  }
}

function findProblem(tokens: readonly SqlToken[]): string | undefined {
  let depth = 0
  for (const token of tokens) {
    if (isSign(token, '(')) depth += 1
    if (isSign(token, ')')) depth -= 1
    if (depth < 0) return 'has a ) without a ('
    // Outside of parentheses these words begin a statement; `replace(...)` is a function.
    const isFunction = keywordOf(token) === 'REPLACE'
    if (depth === 0 && !isFunction && WRITING.has(keywordOf(token))) return 'must be a SELECT'
  }
  return depth === 0 ? undefined : 'has a ( without a )'
}

/** What is known inside one pair of parentheses. */
interface Scope {
  isInFrom: boolean
  expectsTable: boolean
}

function listTables(tokens: readonly SqlToken[]): string[] {
  const hidden = listCommonTables(tokens)
  const tables = new Set<string>()
  const scopes: Scope[] = []
  let scope: Scope = { isInFrom: false, expectsTable: false }
  for (const [index, token] of tokens.entries()) {
    if (isSign(token, '(')) {
      scopes.push(scope)
      // Parentheses in place of a table hold a join or a subquery.
      const isTable = scope.expectsTable && scope.isInFrom
      scope.expectsTable = false
      scope = { isInFrom: isTable, expectsTable: isTable }
    } else if (isSign(token, ')')) {
      scope = scopes.pop() ?? scope
    } else if (isSign(token, ',')) {
      scope.expectsTable = scope.isInFrom
    } else if (scope.expectsTable && isTableName(token)) {
      const name = readTableName(tokens, index)
      if (name !== undefined && !hidden.has(name)) tables.add(name)
      scope.expectsTable = isSign(tokens[index + 1], '.')
    } else {
      moveByKeyword(scope, tokens, index)
    }
  }
  return [...tables].sort()
}

function moveByKeyword(scope: Scope, tokens: readonly SqlToken[], index: number): void {
  const word = keywordOf(tokens[index])
  if (word === 'FROM' && keywordOf(tokens[index - 1]) !== 'DISTINCT') {
    scope.isInFrom = true
    scope.expectsTable = true
  } else if (word === 'JOIN' || (word === 'IN' && isTableName(tokens[index + 1]))) {
    scope.expectsTable = true
  } else if (ENDS_FROM.has(word) && (word !== 'WINDOW' || isWindowClause(tokens, index))) {
    scope.isInFrom = false
    scope.expectsTable = false
  }
}

/** SQLite takes the word for a name unless another one and AS follow it. */
function isWindowClause(tokens: readonly SqlToken[], index: number): boolean {
  return isName(tokens[index + 1]) && keywordOf(tokens[index + 2]) === 'AS'
}

/**
 * The table that a name stands for; undefined for the name of a schema and of a function. A table with arguments whose
 * name is a text counts: no other look at names would see it.
 */
function readTableName(tokens: readonly SqlToken[], index: number): string | undefined {
  const next = tokens[index + 1]
  const token = tokens[index]
  if (isSign(next, '.') || (isSign(next, '(') && token?.kind !== 'literal')) return undefined
  const text = token?.kind === 'literal' ? unquoteText(token.text) : token?.text
  return text?.toLowerCase()
}

/** SQLite takes a text in single quotes for a name where only a name can stand. */
function isTableName(token: SqlToken | undefined): boolean {
  return isName(token) || (token?.kind === 'literal' && token.text.startsWith("'"))
}

function unquoteText(literal: string): string {
  return literal.slice(1, -1).replaceAll("''", "'")
}

/** The names that a WITH defines: each is followed by its columns, if any, AS and a subquery. */
function listCommonTables(tokens: readonly SqlToken[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const [index, token] of tokens.entries()) {
    if (!isName(token)) continue
    let next = index + 1
    if (isSign(tokens[next], '(')) next = indexAfterColumns(tokens, next)
    if (keywordOf(tokens[next]) !== 'AS') continue
    next += 1
    if (keywordOf(tokens[next]) === 'NOT') next += 1
    if (keywordOf(tokens[next]) === 'MATERIALIZED') next += 1
    const isSubquery = isSign(tokens[next], '(') && READING.includes(keywordOf(tokens[next + 1]))
    if (isSubquery) names.add(token.text.toLowerCase())
  }
  return names
}

/** Column lists hold no parentheses of their own, so that a name is never looked at twice. */
function indexAfterColumns(tokens: readonly SqlToken[], start: number): number {
  let index = start + 1
  while (index < tokens.length && !isSign(tokens[index], '(') && !isSign(tokens[index], ')')) {
    index += 1
  }
  return index + 1
}

function isName(token: SqlToken | undefined): boolean {
  if (token?.kind === 'quoted_name') return true
  return token?.kind === 'word' && !NOT_A_NAME.has(keywordOf(token))
}

/** The word in capital letters; empty for names in quotes and all else. */
function keywordOf(token: SqlToken | undefined): string {
  return token?.kind === 'word' ? token.text.toUpperCase() : ''
}

function isSign(token: SqlToken | undefined, sign: string): boolean {
  return token?.kind === 'sign' && token.text === sign
}

function refused(message: string): AnalysedQuery {
  return { kind: 'refused', message }
}
