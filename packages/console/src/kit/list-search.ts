/** What stands in the address of a list: its search, in the API's grammar. */
export interface ListSearch {
  readonly query?: string
}

/** Reads the search of a list from the address; what is not a text is left out. */
export function readListSearch(search: Readonly<Record<string, unknown>>): ListSearch {
  const { query } = search
  return typeof query === 'string' && query !== '' ? { query } : {}
}
