/* A list of the API, read page by page as the reader comes near its end. */
import { keepPreviousData, useInfiniteQuery, type QueryKey } from '@tanstack/react-query'
import { useMemo } from 'react'

/** The largest page that the API gives. */
export const PAGE_SIZE = 100

/** What every list of the API answers. */
export interface ListPage<Item> {
  readonly data: readonly Item[]
  readonly pagination: { readonly next_cursor: string }
}

/** What is asked for: goes into the query of the request, beside what the list takes besides. */
export interface PageRequest {
  readonly query: { readonly cursor?: string; readonly per_page: number; readonly query?: string }
  readonly signal: AbortSignal
  readonly throwOnError: true
}

/** Reads a page: `(page) => getDevices(page)`. */
export type ReadPage<Item> = (page: PageRequest) => Promise<{ readonly data: ListPage<Item> }>

export interface List<Item> {
  readonly items: readonly Item[]
  /** Nothing has come yet. */
  readonly isLoading: boolean
  /** What is shown answers an earlier search. */
  readonly isStale: boolean
  readonly isLoadingMore: boolean
  readonly hasMore: boolean
  readonly error: Error | null
  readonly loadMore: () => void
  readonly retry: () => void
}

/**
 * The items of a list. The first member of the key is the resource, as live messages name it:
 * `['devices', 'list']`; `search` joins it.
 */
export function useList<Item>(key: QueryKey, read: ReadPage<Item>, search = ''): List<Item> {
  const query = useInfiniteQuery({
    queryKey: [...key, { search }],
    initialPageParam: '',
    queryFn: async ({ pageParam, signal }) => {
      // A cursor carries the search that it continues.
      const own =
        pageParam === '' ? (search === '' ? {} : { query: search }) : { cursor: pageParam }
      const { data } = await read({
        query: { per_page: PAGE_SIZE, ...own },
        signal,
        throwOnError: true,
      })
      return data
    },
    getNextPageParam: ({ pagination }) =>
      pagination.next_cursor === '' ? undefined : pagination.next_cursor,
    placeholderData: keepPreviousData,
  })
  const { data, fetchNextPage, refetch } = query
  const items = useMemo(() => data?.pages.flatMap((page) => page.data) ?? [], [data])
  return {
    items,
    isLoading: query.isPending,
    isStale: query.isPlaceholderData,
    isLoadingMore: query.isFetchingNextPage,
    hasMore: query.hasNextPage,
    error: query.error,
    loadMore: () => void fetchNextPage(),
    retry: () => void refetch(),
  }
}
