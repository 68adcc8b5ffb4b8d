/*
 * The tokens of osquery SQL, which is SQLite's dialect: its quotes, comments and names. Knows nothing
 * of what they mean; analyse-live-query.ts does.
 */

export type SqlTokenKind = 'word' | 'quoted_name' | 'literal' | 'sign'

export interface SqlToken {
  readonly kind: SqlTokenKind
  /** Signs as written, words as written, names without their quotes. */
  readonly text: string
  /** Where it begins and ends in the SQL. */
  readonly start: number
  readonly end: number
}

/** The tokens of a text, or where it breaks off inside a quote or holds what is no SQL. */
export type ScannedSql =
  | { readonly kind: 'tokens'; readonly tokens: readonly SqlToken[] }
  | { readonly kind: 'broken'; readonly message: string; readonly position: number }

/** White space and comments; SQLite lets a block comment end with the text. */
const SKIPPED = /(?:[ \t\n\r\f]+|--[^\n]*|\/\*[^]*?(?:\*\/|$))+/y
const STRING = /[xX]?'(?:[^']|'')*'/y
const QUOTED_NAME = /"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]/y
const NUMBER = /0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y
const WORD = /[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y
const SIGN = /\|\||<<|>>|<=|>=|<>|!=|==|->>|->|[-+*/%&|~<>=(),.;]/y
const PARAMETER = /[?@:$#]/y

/** Splits SQL into tokens; comments and white space are left out. */
export function scanSql(sql: string): ScannedSql {
  const tokens: SqlToken[] = []
  let position = skip(sql, 0)
  while (position < sql.length) {
    const token = readToken(sql, position)
    if (token === undefined) {
      return { kind: 'broken', message: describeBreak(sql, position), position }
    }
    tokens.push(token)
    position = skip(sql, token.end)
  }
  return { kind: 'tokens', tokens }
}

function readToken(sql: string, start: number): SqlToken | undefined {
  const literal = match(STRING, sql, start) ?? match(NUMBER, sql, start)
  if (literal !== undefined) return { kind: 'literal', text: literal, ...span(literal, start) }
  const name = match(QUOTED_NAME, sql, start)
  if (name !== undefined) return { kind: 'quoted_name', text: unquote(name), ...span(name, start) }
  const word = match(WORD, sql, start)
  if (word !== undefined) return { kind: 'word', text: word, ...span(word, start) }
  const sign = match(SIGN, sql, start)
  return sign === undefined ? undefined : { kind: 'sign', text: sign, ...span(sign, start) }
}

function span(text: string, start: number): { start: number; end: number } {
  return { start, end: start + text.length }
}

function skip(sql: string, start: number): number {
  return start + (match(SKIPPED, sql, start)?.length ?? 0)
}

/** The text that the pattern, which is sticky, matches at a position. */
function match(pattern: RegExp, sql: string, position: number): string | undefined {
  pattern.lastIndex = position
  return pattern.exec(sql)?.[0]
}

function unquote(name: string): string {
  const quote = name[0] ?? ''
  const inner = name.slice(1, -1)
  return quote === '[' ? inner : inner.replaceAll(quote + quote, quote)
}

function describeBreak(sql: string, position: number): string {
  const sign = sql[position] ?? ''
  if (`'"\`[`.includes(sign)) return `the ${sign} has no end`
  if (match(PARAMETER, sql, position) !== undefined) return 'parameters have no value'
  return `${JSON.stringify(sign)} is not SQL`
}
