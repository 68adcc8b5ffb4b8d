/**
 * The one way to declare a list. It reads `cursor`, `per_page` and `query`, asks the store for one row
 * more than the page holds, and writes the list envelope. Other parameters of a list are declared with
 * `filters` and stay in the address of the next page.
 *
 *     listRoute({
 *       path: '/devices',
 *       summary: 'List devices',
 *       tags: ['Devices'],
 *       permission: null,
 *       fields: DEVICE_SEARCH_FIELDS,
 *       item: deviceSchema,
 *       fetch: ({ search, window }) => store.listDevices(search, window),
 *       toJson: (device) => toDeviceJson(device),
 *     })
 *
 * In the store: `where(afterKey(sql.ref('device.id'), window))`, `where(searchToSql(search, COLUMNS))`,
 * `orderBy('device.id')`, `limit(window.limit)`.
 */
import { z } from 'zod'
import { toPage, type PageWindow } from '../db/page.ts'
import { parseSearch } from '../search/parse-search.ts'
import type { SearchExpression, SearchField } from '../search/search-field.ts'
import { decodeCursor, encodeCursor, invalidCursor } from './cursor.ts'
import type { Deprecation } from './deprecation.ts'
import type { Expansions } from './expand.ts'
import { listQuerySchema, PER_PAGE_DEFAULT, readListQuery, searchExamples } from './list-query.ts'
import {
  route,
  type AlternativeCredential,
  type ApiRoute,
  type Caller,
  type DefaultParams,
  type Feature,
  type RouteAccess,
  type RouteContext,
  type RouteExample,
} from './route.ts'
import type { ApiVersion } from './api-version.ts'

export const paginationSchema = z
  .object({
    next: z.string().describe('The address of the next page; empty on the last page.'),
    next_cursor: z.string().describe('The cursor of the next page; empty on the last page.'),
    current_cursor: z.string().describe('The cursor of this page; empty on the first page.'),
    count: z.int().describe('The number of records in this page.'),
  })
  .meta({ id: 'Pagination' })

/** What a list reads its page by. */
export interface ListRequest<Params, Filters, CallerType> extends Omit<
  RouteContext<Params, Filters, undefined, CallerType>,
  'query' | 'body'
> {
  readonly filters: Filters
  readonly search: SearchExpression | undefined
  readonly window: PageWindow
}

export interface ListDefinition<
  Path extends string,
  Access extends RouteAccess,
  Params extends z.ZodType,
  Filters extends z.ZodObject,
  Item extends z.ZodType,
  Row,
> {
  readonly path: Path
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly permission: Access
  readonly feature?: Feature | null
  readonly versions?: readonly ApiVersion[]
  readonly operationId?: string
  readonly credential?: AlternativeCredential
  readonly expand?: Expansions
  readonly example?: RouteExample
  readonly deprecation?: Deprecation
  readonly params?: Params
  /** Query parameters beside the three of every list. */
  readonly filters?: Filters
  /** What `query` may name; none means that the list has no `query`. */
  readonly fields?: readonly SearchField[]
  /** Instead of `fields`, where the path decides what `query` may name; throws for an unknown path. */
  readonly fieldsOf?: (params: z.output<Params>) => readonly SearchField[]
  readonly item: Item
  readonly fetch: (
    request: ListRequest<z.output<Params>, z.output<Filters>, Caller<Access>>,
  ) => Promise<readonly Row[]>
  readonly toJson: (row: Row) => z.input<Item>
  /** The key that pages are cut by; the `id` of the row when left out. */
  readonly keyOf?: (row: Row) => string
}

/** Declares a list; the top of this file says how. */
export function listRoute<
  const Path extends `/${string}`,
  const Access extends RouteAccess,
  Item extends z.ZodType,
  Row extends object,
  Params extends z.ZodType = DefaultParams<Path>,
  Filters extends z.ZodObject = z.ZodObject<Record<never, z.ZodType>>,
>(definition: ListDefinition<Path, Access, Params, Filters, Item, Row>): ApiRoute {
  const fields = definition.fields ?? []
  const { filters, item, fetch, toJson, keyOf = idOf, params, fieldsOf, ...declared } = definition
  const filterNames = Object.keys(filters?.shape ?? {})
  const list = route({
    ...declared,
    ...(params === undefined ? {} : { params }),
    method: 'GET',
    query: listQuerySchema(fields, fieldsOf !== undefined).extend(filters?.shape ?? {}),
    queryExamples: searchExamples(fields),
    responses: { 200: z.object({ data: z.array(item), pagination: paginationSchema }) },
    handler: async (context) => {
      const page = readPageRequest(context, fieldsOf?.(context.params) ?? fields)
      const rows = await fetch({
        ...context,
        filters: pick(context.query, filterNames) as z.output<Filters>,
        search: page.search,
        window: { afterId: page.lastKey, limit: page.perPage + 1 },
      })
      const { rows: shown, hasMore } = toPage(rows, page.perPage)
      const last = hasMore ? shown.at(-1) : undefined
      return {
        data: shown.map(toJson),
        pagination: paginationOf(context, page, last && keyOf(last), shown.length),
      }
    },
  })
  const isSearched = fields.length > 0 || fieldsOf !== undefined
  return isSearched ? list : takingBlankSearch(list)
}

/** Clients send a blank `query` to every list, also to those where there is nothing to search. */
function takingBlankSearch(list: ApiRoute): ApiRoute {
  return {
    ...list,
    run: (input, ...rest) =>
      list.run({ ...input, query: withoutBlankSearch(input.query) }, ...rest),
  }
}

function withoutBlankSearch(query: unknown): unknown {
  if (typeof query !== 'object' || query === null || !('query' in query)) return query
  const { query: search, ...others } = query
  return typeof search === 'string' && search.trim() === '' ? others : query
}

interface PageRequest {
  readonly cursor: string
  readonly queryText: string
  readonly search: SearchExpression | undefined
  readonly perPage: number
  readonly lastKey: string | undefined
}

type ListContext = RouteContext<unknown, Record<string, unknown>, unknown, unknown>

function readPageRequest(context: ListContext, fields: readonly SearchField[]): PageRequest {
  const { cursor, perPage, query } = readListQuery(context.query)
  if (cursor === undefined) {
    return {
      cursor: '',
      queryText: query ?? '',
      search: parseSearch(query ?? '', fields),
      perPage: perPage ?? PER_PAGE_DEFAULT,
      lastKey: undefined,
    }
  }
  const contents = decodeCursor(cursor, context.paging.cursorKey)
  if (contents.list !== context.path) throw invalidCursor('The cursor belongs to another list.')
  if (query !== undefined && query !== contents.query) {
    throw invalidCursor('The cursor belongs to another `query`.')
  }
  return {
    cursor,
    queryText: contents.query,
    search: parseSearch(contents.query, fields),
    perPage: perPage ?? contents.perPage,
    lastKey: contents.lastKey,
  }
}

function paginationOf(
  context: ListContext,
  page: PageRequest,
  lastKey: string | undefined,
  count: number,
): z.input<typeof paginationSchema> {
  const { path, paging } = context
  if (lastKey === undefined) {
    return { next: '', next_cursor: '', current_cursor: page.cursor, count }
  }
  const { queryText: query, perPage } = page
  const cursor = encodeCursor({ list: path, query, perPage, lastKey }, paging.cursorKey)
  return {
    next: nextAddress(context, cursor, perPage),
    next_cursor: cursor,
    current_cursor: page.cursor,
    count,
  }
}

/** Under the address that the world knows, with the filters of this request repeated. */
function nextAddress(context: ListContext, cursor: string, perPage: number): string {
  const { path, paging, rawQuery } = context
  const parameters = new URLSearchParams({ cursor, per_page: String(perPage) })
  for (const [name, value] of Object.entries(rawQuery)) {
    if (!['cursor', 'per_page', 'query'].includes(name)) parameters.set(name, value)
  }
  return `${paging.baseUrl}${path}?${parameters.toString()}`
}

function pick(values: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, values[name]]))
}

function idOf(row: object): string {
  if ('id' in row && typeof row.id === 'string') return row.id
  throw new Error('a row without a string id needs keyOf')
}
