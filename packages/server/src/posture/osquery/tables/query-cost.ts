/*
 * How much SQLite has to look up to prepare a query. It reads a common table expression anew wherever its
 * name stands, so that twenty of them, each naming the former twice, are a million look-ups. Reads tokens
 * alone, and takes every equal name for a use: the answer is never too low.
 */
import { scanSql, type SqlToken } from '../scan-sql.ts'

/** From the parenthesis that opens the select of a common table expression to the one that closes it. */
interface Body {
  readonly first: number
  readonly last: number
}

/** The number of selects that are read, as an upper bound; `Infinity` for what cannot be scanned. */
export function countExpandedSelects(sql: string): number {
  const scanned = scanSql(sql)
  if (scanned.kind === 'broken') return Infinity
  const { tokens } = scanned
  const bodies = findBodies(tokens)
  const counts = new Map<string, number>()
  const countBetween = ({ first, last }: Body): number => {
    let count = 1
    for (const token of tokens.slice(first, last)) {
      const name = nameOf(token)
      if (name !== undefined && bodies.has(name)) count += countOf(name)
    }
    return count
  }
  const countOf = (name: string): number => {
    const known = counts.get(name)
    if (known !== undefined) return known
    // While it is counted: a select that names itself is read once.
    counts.set(name, 1)
    const count = (bodies.get(name) ?? []).reduce((sum, body) => sum + countBetween(body), 0)
    counts.set(name, count)
    return count
  }
  return countBetween({ first: 0, last: tokens.length })
}

/** The selects of `name [(columns)] as [[not] materialized] (select)`, by name in lower case. */
function findBodies(tokens: readonly SqlToken[]): ReadonlyMap<string, readonly Body[]> {
  const closing = findClosing(tokens)
  const bodies = new Map<string, Body[]>()
  for (const [index, token] of tokens.entries()) {
    const name = nameOf(token)
    if (name === undefined) continue
    let next = index + 1
    if (tokens[next]?.text === '(') next = (closing.get(next) ?? tokens.length) + 1
    if (nameOf(tokens[next]) !== 'as') continue
    next += 1
    while (['not', 'materialized'].includes(nameOf(tokens[next]) ?? '')) next += 1
    const last = closing.get(next)
    if (last === undefined) continue
    bodies.set(name, [...(bodies.get(name) ?? []), { first: next, last }])
  }
  return bodies
}

/** Where each opening parenthesis is closed. */
function findClosing(tokens: readonly SqlToken[]): ReadonlyMap<number, number> {
  const closing = new Map<number, number>()
  const open: number[] = []
  for (const [index, { kind, text }] of tokens.entries()) {
    if (kind !== 'sign') continue
    if (text === '(') open.push(index)
    const opened = text === ')' ? open.pop() : undefined
    if (opened !== undefined) closing.set(opened, index)
  }
  return closing
}

function nameOf(token: SqlToken | undefined): string | undefined {
  const isName = token?.kind === 'word' || token?.kind === 'quoted_name'
  return isName ? token.text.toLowerCase() : undefined
}
