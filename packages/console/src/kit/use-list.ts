/*
 * A list of the API, read page by page as the reader comes near its end. What has changed is read again only
 * where somebody looks: a list of which a hundred pages have been read costs as little as one of two.
 */
import { hashKey, useQueries, useQueryClient, type QueryKey } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { ApiError } from '../api/client.ts'
import { PAGE_SIZE, type ListPage, type ReadPage } from './list-page.ts'
import { exportList, findSource, type ListSource } from './list-source.ts'
import { useTableChoices } from './table-choices.ts'

export { PAGE_SIZE, type ListPage, type ReadPage } from './list-page.ts'

/** So many rows before the end of what has been read, the next page is asked for. */
const ROWS_AHEAD = 150

export interface List<Item> {
  readonly items: readonly Item[]
  /** Nothing has come yet. */
  readonly isLoading: boolean
  /** What is shown answers an earlier search. */
  readonly isStale: boolean
  readonly isLoadingMore: boolean
  readonly hasMore: boolean
  readonly error: Error | null
  /** What is wrong with the search, in the words of the service, where that is the failure. */
  readonly searchFault?: string | undefined
  readonly loadMore: () => void
  /** Says which rows are looked at, from the first to the last: they are kept true, and what follows is read. */
  readonly look: (first: number, last: number) => void
  readonly retry: () => void
  /** What is listed; undefined where it is no list of the API. */
  readonly source?: ListSource | undefined
  /** Saves all that the search finds as a file. */
  readonly exportAll?: () => Promise<void>
}

/** The first and the last page that somebody looks at, and the last that is read for when they go on. */
interface Range {
  readonly first: number
  readonly last: number
  readonly ahead: number
}

const FIRST_PAGE: Range = { first: 0, last: 0, ahead: 0 }

/**
 * The items of a list. The first member of the key is the resource, as live messages name it:
 * `['devices', 'list']`; `search` joins it.
 */
export function useList<Item>(key: QueryKey, read: ReadPage<Item>, search = ''): List<Item> {
  const queryClient = useQueryClient()
  const keyName = hashKey(key)
  const source = useMemo(() => findSource(read), [keyName])
  const [{ order }] = useTableChoices(source?.path ?? keyName)
  const chosen = order === undefined || source?.order === undefined ? {} : { order }
  const asked = `${chosen.order ?? ''} ${search}`
  const listName = hashKey([...key, asked])
  const [looked, setLooked] = useState({ listName, range: FIRST_PAGE })
  const range = looked.listName === listName ? looked.range : FIRST_PAGE
  const setRange = (next: Range) =>
    setLooked((known) =>
      known.listName === listName &&
      known.range.first === next.first &&
      known.range.last === next.last &&
      known.range.ahead === next.ahead
        ? known
        : { listName, range: next },
    )
  const keyOf = (cursor: string): QueryKey => [...key, { search, cursor, ...chosen }]
  const cursors = followCursors(range.ahead, (cursor) =>
    queryClient.getQueryData<ListPage<Item>>(keyOf(cursor)),
  )
  const results = useQueries({
    queries: cursors.map((cursor, index) => ({
      queryKey: keyOf(cursor),
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
        // A cursor carries the search that it continues.
        const own = cursor !== '' ? { cursor } : search === '' ? {} : { query: search }
        const query = { per_page: PAGE_SIZE, ...own, ...chosen }
        return (await read({ query, signal, throwOnError: true })).data
      },
      enabled: ({ state }: { readonly state: { readonly data: unknown } }) =>
        state.data === undefined
          ? index <= range.ahead
          : index >= range.first && index <= range.last,
    })),
  })
  const pages = results.flatMap(({ data }) => (data === undefined ? [] : [data]))
  const joined = useJoined(keyName, asked, pages)
  const isLoadingMore = results.some(
    ({ data, isFetching }, at) => at > 0 && data === undefined && isFetching,
  )
  const error = results.find((result) => result.error !== null)?.error ?? null
  return {
    items: joined.items,
    isLoading: joined.pages.length === 0 && error === null,
    isStale: joined.search !== asked,
    isLoadingMore,
    hasMore: joined.pages.length > 0 && joined.pages.at(-1)?.pagination.next_cursor !== '',
    error,
    searchFault: toSearchFault(error),
    loadMore: () => setRange({ first: range.first, last: pages.length, ahead: pages.length }),
    look: (first, last) => {
      // What is shown of an earlier search says nothing about this one.
      if (pages.length === 0) return
      const at = (row: number) => pageOf(pages, row)
      setRange({ first: at(first), last: at(last), ahead: at(last + ROWS_AHEAD) })
    },
    retry: () => {
      for (const { isError, refetch } of results) if (isError) void refetch()
    },
    source,
    exportAll: async () =>
      exportList(read, { ...(search === '' ? {} : { query: search }), ...chosen }),
  }
}

/** What the service says where it could not read the search. */
function toSearchFault(error: Error | null): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const isOfSearch = error.code === 'invalid_search' || error.fields['query'] !== undefined
  return isOfSearch ? error.message : undefined
}

/** The cursors of the pages that are known, and of those up to the one that is wanted. */
function followCursors(
  wanted: number,
  find: (cursor: string) => ListPage<unknown> | undefined,
): string[] {
  const cursors = ['']
  for (let page = find(''); page !== undefined; page = find(cursors.at(-1) ?? '')) {
    const next = page.pagination.next_cursor
    if (next === '' || (cursors.length > wanted && find(next) === undefined)) break
    cursors.push(next)
  }
  return cursors
}

/** The page that holds a row; the one after the last that is known for what lies behind. */
function pageOf(pages: readonly ListPage<unknown>[], row: number): number {
  let end = 0
  const found = pages.findIndex(({ data }) => (end += data.length) > row)
  return found < 0 ? pages.length : found
}

interface Joined<Item> {
  readonly keyName: string
  readonly search: string
  readonly pages: readonly ListPage<Item>[]
  readonly items: readonly Item[]
}

/** The items of all pages, the same array as long as they are; those of the search before until the first have come. */
function useJoined<Item>(
  keyName: string,
  search: string,
  pages: readonly ListPage<Item>[],
): Joined<Item> {
  const join = () => ({ keyName, search, pages, items: pages.flatMap(({ data }) => data) })
  const [known, setKnown] = useState<Joined<Item>>(join)
  if (known.keyName === keyName && (pages.length === 0 || isSame(known, search, pages)))
    return known
  const next = join()
  setKnown(next)
  return next
}

function isSame<Item>(
  known: Joined<Item>,
  search: string,
  pages: readonly ListPage<Item>[],
): boolean {
  return (
    known.search === search &&
    known.pages.length === pages.length &&
    pages.every((page, index) => page === known.pages[index])
  )
}
