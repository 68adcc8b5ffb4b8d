/** What stands in the address of a list: its search, in the API's grammar. */
export interface ListSearch {
  readonly query?: string
}

/**
 * Reads the search of a list from the address. What was typed there may look like a number, or like anything of JSON.
 */
export function readListSearch(search: Readonly<Record<string, unknown>>): ListSearch {
  const { query } = search
  if (query === undefined || query === '') return {}
  return { query: typeof query === 'string' ? query : JSON.stringify(query) }
}
