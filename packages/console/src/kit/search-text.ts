/*
 * Searches in the API's grammar, as far as a page must read them: which clauses stand beside each other, and how
 * another one joins them. What is wrong with a search the service says.
 */

/** A text as the grammar quotes it. */
export function quoteText(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

/** The search for what these clauses find all of. */
export function joinClauses(clauses: readonly string[]): string {
  return clauses.join(' AND ')
}

/** Narrows a search by a further clause. */
export function addClause(search: string, clause: string): string {
  return joinClauses([...splitClauses(search), clause])
}

const TOKENS = /"(?:\\.|[^"\\])*"?|[()[\]]|\s(?:AND|OR)(?=\s)/gi

/**
 * The clauses of a search that all must hold; one in brackets where they are alternatives. Words in quotes and
 * brackets join nothing.
 */
export function splitClauses(search: string): readonly string[] {
  const clauses: string[] = []
  let begin = 0
  let depth = 0
  for (const { 0: token, index } of search.matchAll(TOKENS)) {
    if (token === '(' || token === '[') depth += 1
    else if (token === ')' || token === ']') depth -= 1
    if (depth > 0 || !/^\s/.test(token)) continue
    if (token.trim().toUpperCase() === 'OR') return [`(${search.trim()})`]
    clauses.push(search.slice(begin, index).trim())
    begin = index + token.length
  }
  return [...clauses, search.slice(begin).trim()].filter((clause) => clause !== '')
}
