/*
 * Where a page of a list begins and where the next one does: reads `cursor`, `per_page` and `query` of a
 * request, and writes the pagination of the answer. Cursors are signed and carry the search.
 */
import { PER_PAGE_DEFAULT, PER_PAGE_MAX } from '../db/page.ts'
import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { invalidCursor } from '../app-error.ts'
import { parseSearch } from '../search/parse-search.ts'
import type { SearchExpression, SearchField } from '../search/search-field.ts'
import type { Paging } from './operation.ts'
import type { RouteContext } from './route.ts'

/** What a cursor carries, so that it alone continues a list. */
export interface CursorContents {
  /** The concrete path of the list, parent ids included, and behind a question mark the filters that were given. */
  readonly list: string
  /** The text of the `query` parameter; empty for none. */
  readonly query: string
  readonly perPage: number
  /** The key of the last record of the page before. */
  readonly lastKey: string
}

/** Where a page stands among the others of its list. */
export const paginationSchema = z
  .object({
    next: z.string().describe('The address of the next page; empty on the last page.'),
    next_cursor: z.string().describe('The cursor of the next page; empty on the last page.'),
    current_cursor: z.string().describe('The cursor of this page; empty on the first page.'),
    count: z.int().describe('The number of records in this page.'),
  })
  .meta({ id: 'Pagination' })

/**
 * A query of 4 KiB makes a cursor of 6 KiB, and one of 11 KiB when JSON doubles each of its characters, as it does
 * quotes.
 */
export const CURSOR_LENGTH_MAX = 12_288

const VERSION = 1
/** The query stands behind the array as it is: JSON writes six bytes for a control character. */
const PLAIN_QUERY_VERSION = 2
/** Ends the array of a plain query; neither holds it. */
const NUL = 0
const SIGNATURE_BYTES = 16
const payloadSchema = z.tuple([
  z.union([z.literal(VERSION), z.literal(PLAIN_QUERY_VERSION)]),
  z.string(),
  z.string(),
  z.int().min(1).max(PER_PAGE_MAX),
  z.string().max(200),
])

/** Writes the cursor for a page. It can be read by everyone and made by nobody without the key. */
export function encodeCursor(contents: CursorContents, key: KeyObject): string {
  const { list, query, perPage, lastKey } = contents
  const cursor = toCursor([VERSION, list, query, perPage, lastKey], '', key)
  if (cursor.length <= CURSOR_LENGTH_MAX) return cursor
  return toCursor([PLAIN_QUERY_VERSION, list, '', perPage, lastKey], `\0${query}`, key)
}

function toCursor(
  values: z.input<typeof payloadSchema>,
  plainQuery: string,
  key: KeyObject,
): string {
  const payload = Buffer.from(JSON.stringify(values) + plainQuery)
  return Buffer.concat([sign(payload, key), payload]).toString('base64url')
}

/**
 * The contents of a cursor of this service.
 *
 * @throws AppError `invalid_cursor` for a text that this service did not issue under this key.
 */
export function decodeCursor(cursor: string, key: KeyObject): CursorContents {
  const bytes = Buffer.from(cursor, 'base64url')
  const payload = bytes.subarray(SIGNATURE_BYTES)
  const signature = bytes.subarray(0, SIGNATURE_BYTES)
  // One text per cursor: the decoder skips what is not base64url, so the text is compared too.
  const isGenuine =
    cursor.length <= CURSOR_LENGTH_MAX &&
    payload.length > 0 &&
    bytes.toString('base64url') === cursor &&
    timingSafeEqual(signature, sign(payload, key))
  if (!isGenuine) throw invalidCursor('The cursor was not issued by this service.')
  const end = payload.indexOf(NUL)
  const values = payload.toString('utf8', 0, end === -1 ? undefined : end)
  const [, list, query, perPage, lastKey] = payloadSchema.parse(JSON.parse(values))
  return { list, query: end === -1 ? query : payload.toString('utf8', end + 1), perPage, lastKey }
}

function sign(payload: Buffer, key: KeyObject): Buffer {
  return createHmac('sha256', key).update(payload).digest().subarray(0, SIGNATURE_BYTES)
}

/** Which page a request asks for. */
export interface PageRequest {
  readonly cursor: string
  readonly queryText: string
  readonly search: SearchExpression | undefined
  /** The filters that were given, with this request or the one that the list began with; as they were sent. */
  readonly filters: Readonly<Record<string, string>>
  readonly perPage: number
  readonly lastKey: string | undefined
  /** The last records first. */
  readonly isDescending: boolean
}

/** Begins the key of a cursor that continues in descending order. */
const DESCENDING = 'desc:'

/** The request of any list. */
export type ListContext = RouteContext<unknown, Record<string, unknown>, unknown, unknown>

/**
 * The page that a request asks for.
 *
 * @throws AppError `invalid_cursor`, `invalid_search`
 */
export function readPageRequest(
  context: ListContext,
  fields: readonly SearchField[],
  filterNames: readonly string[],
): PageRequest {
  const query = textOf(context.query, 'query')
  const perPageText = textOf(context.query, 'per_page')
  const perPage = perPageText === undefined ? undefined : Number(perPageText)
  const cursor = textOf(context.query, 'cursor')?.trim()
  const order = textOf(context.query, 'order')
  const filters = filtersOf(context, filterNames)
  if (cursor === undefined) {
    return {
      cursor: '',
      queryText: query ?? '',
      search: parseSearch(query ?? '', fields),
      filters,
      perPage: perPage ?? PER_PAGE_DEFAULT,
      lastKey: undefined,
      isDescending: order === 'desc',
    }
  }
  const contents = decodeCursor(cursor, pagingOf(context).cursorKey)
  const [path, filterText] = contents.list.split('?', 2)
  if (path !== context.path) throw invalidCursor('The cursor belongs to another list.')
  if (query !== undefined && query !== contents.query) {
    throw invalidCursor('The cursor belongs to another `query`.')
  }
  const isDescending = contents.lastKey.startsWith(DESCENDING)
  if (order !== undefined && (order === 'desc') !== isDescending) {
    throw invalidCursor('The cursor belongs to another `order`.')
  }
  return {
    cursor,
    queryText: contents.query,
    search: parseSearch(contents.query, fields),
    filters: { ...filters, ...readCarriedFilters(filterText, filters) },
    perPage: perPage ?? contents.perPage,
    lastKey: isDescending ? contents.lastKey.slice(DESCENDING.length) : contents.lastKey,
    isDescending,
  }
}

/** The filters of a request that say something. */
function filtersOf({ rawQuery }: ListContext, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = textOf(rawQuery, name)
      return text === undefined ? [] : [[name, text]]
    }),
  )
}

/**
 * The filters that a cursor carries.
 *
 * @throws AppError `invalid_cursor` where the request asks for another value of one of them
 */
function readCarriedFilters(
  filterText: string | undefined,
  asked: Readonly<Record<string, string>>,
): Record<string, string> {
  const carried = Object.fromEntries(new URLSearchParams(filterText))
  for (const [name, value] of Object.entries(carried)) {
    if (asked[name] === undefined || asked[name] === value) continue
    throw invalidCursor(`The cursor belongs to another \`${name}\`.`)
  }
  return carried
}

/** Blank parameters count as absent: clients send them whether or not they have something to say. */
function textOf(query: Record<string, unknown>, name: string): string | undefined {
  const value = query[name]
  return typeof value === 'string' && !isBlank(value) ? value : undefined
}

/** Whether a parameter holds nothing but spaces. */
export function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === ''
}

function pagingOf({ paging }: Pick<ListContext, 'paging'>): Paging {
  if (paging === undefined) throw new Error('a list is mounted on a surface without paging')
  return paging
}

/** The pagination of a page; `lastKey` is that of its last record when another page follows. */
export function paginationOf(
  context: ListContext,
  page: PageRequest,
  lastKey: string | undefined,
  count: number,
): z.input<typeof paginationSchema> {
  const { path } = context
  if (lastKey === undefined) {
    return { next: '', next_cursor: '', current_cursor: page.cursor, count }
  }
  const { queryText: query, filters, perPage, isDescending } = page
  const filterText = new URLSearchParams(filters).toString()
  const contents = {
    list: filterText === '' ? path : `${path}?${filterText}`,
    query,
    perPage,
    lastKey: isDescending ? DESCENDING + lastKey : lastKey,
  }
  const cursor = encodeCursor(contents, pagingOf(context).cursorKey)
  return {
    next: nextAddress(context, cursor, perPage),
    next_cursor: cursor,
    current_cursor: page.cursor,
    count,
  }
}

/** Under the address that the world knows, with the filters of this request repeated. */
function nextAddress(context: ListContext, cursor: string, perPage: number): string {
  const { path, rawQuery } = context
  const parameters = new URLSearchParams({ cursor, per_page: String(perPage) })
  for (const [name, value] of Object.entries(rawQuery)) {
    if (!['cursor', 'per_page', 'query'].includes(name)) parameters.set(name, value)
  }
  return `${pagingOf(context).baseUrl}${path}?${parameters.toString()}`
}
