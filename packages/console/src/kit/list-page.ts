/* How pages of lists are asked for and answered. */
import type { client } from '../api/client.ts'

/** The largest page that the API gives. */
export const PAGE_SIZE = 100

/** By id: the oldest records first, or the newest. */
export type Order = 'asc' | 'desc'

/** What every list of the API answers. */
export interface ListPage<Item> {
  readonly data: readonly Item[]
  readonly pagination: { readonly next_cursor: string }
}

/** What is asked for: goes into the query of the request, beside what the list takes besides. */
export interface PageRequest {
  readonly query: {
    readonly cursor?: string
    readonly per_page: number
    readonly query?: string
    /** Only where somebody has chosen one: what the page asks for by itself stands before it. */
    readonly order?: Order
  }
  readonly signal: AbortSignal
  readonly throwOnError: true
  /** Which client sends the request; left out, that of the console. */
  readonly client?: typeof client
}

/** Reads a page: `(page) => getDevices(page)`. */
export type ReadPage<Item> = (page: PageRequest) => Promise<{ readonly data: ListPage<Item> }>
