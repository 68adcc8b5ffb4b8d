import { readListSearch, type ListSearch } from './list-search.ts'

/** What stands in the address of a page with tabs: the open one, and the search of its list. */
export interface TabSearch extends ListSearch {
  readonly tab?: string
}

/** Reads the open tab and the search of its list from the address. */
export function readTabSearch(search: Readonly<Record<string, unknown>>): TabSearch {
  const { tab } = search
  return { ...readListSearch(search), ...(typeof tab === 'string' && tab !== '' ? { tab } : {}) }
}
