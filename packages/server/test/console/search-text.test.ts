/* Searches as the pages of the console read them and add to them. */
import { describe, expect, it } from 'vitest'
import { addClause, quoteText, splitClauses } from '../../../console/src/kit/search-text.ts'

describe('the clauses of a search', () => {
  it.each([
    ['', []],
    ['name:a', ['name:a']],
    ['name:a AND id:[1, 2] and note~"x AND y"', ['name:a', 'id:[1, 2]', 'note~"x AND y"']],
    ['(a:1 AND b:2) AND c:3', ['(a:1 AND b:2)', 'c:3']],
    ['(a:1 OR b:2) AND c:3', ['(a:1 OR b:2)', 'c:3']],
    ['a:1 AND b:2 OR c:3', ['(a:1 AND b:2 OR c:3)']],
    ['name~"say \\" OR \\" twice"', ['name~"say \\" OR \\" twice"']],
    ['note~"never ends OR', ['note~"never ends OR']],
  ])('%s', (search, clauses) => {
    expect(splitClauses(search)).toEqual(clauses)
  })

  it('are narrowed by another one, also where they are alternatives', () => {
    expect(addClause('', 'a:1')).toBe('a:1')
    expect(addClause('a:1 ', 'b:2')).toBe('a:1 AND b:2')
    expect(addClause('a:1 or b:2', 'c:3')).toBe('(a:1 or b:2) AND c:3')
    expect(addClause('(a:1 or b:2)', 'c:3')).toBe('(a:1 or b:2) AND c:3')
  })

  it('hold any text in quotes', () => {
    expect(quoteText('a "b" \\ c')).toBe('"a \\"b\\" \\\\ c"')
  })
})
