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
 *       fetch: ({ search, window }) => listDevices(db, { search, window }),
 *       toJson: (device) => toDeviceJson(device),
 *     })
 *
 * The store reads `window.limit` rows after `window.afterId` that the search finds, in ascending order of
 * their keys.
 */
import { z } from 'zod'
import { toPage, type PageWindow } from '../db/page.ts'
import { parseSearch } from '../search/parse-search.ts'
import type { SearchExpression, SearchField } from '../search/search-field.ts'
import { invalidCursor } from '../app-error.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'
import { listQuerySchema, PER_PAGE_DEFAULT, searchExamples } from './list-query.ts'
import type { Operation, Paging } from './operation.ts'
import {
  route,
  type DefaultParams,
  type OfFeature,
  type RouteAccess,
  type RouteCaller,
  type RouteContext,
  type RouteDeclaration,
} from './route.ts'

export const paginationSchema = z
  .object({
    next: z.string().describe('The address of the next page; empty on the last page.'),
    next_cursor: z.string().describe('The cursor of the next page; empty on the last page.'),
    current_cursor: z.string().describe('The cursor of this page; empty on the first page.'),
    count: z.int().describe('The number of records in this page.'),
  })
  .meta({ id: 'Pagination' })

/** What a list reads its page by. */
export interface ListRequest<Params, Filters, By> extends Omit<
  RouteContext<Params, Filters, undefined, By>,
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
> extends RouteDeclaration<Path, Access> {
  readonly params?: Params
  /** Query parameters beside the three of every list. */
  readonly filters?: Filters
  /** What `query` may name; none means that the list has no `query`. */
  readonly fields?: readonly SearchField[]
  /** Instead of `fields`, where the path decides what `query` may name; throws for an unknown path. */
  readonly fieldsOf?: (params: z.output<Params>) => readonly SearchField[]
  readonly item: Item
  readonly fetch: (
    request: ListRequest<z.output<Params>, z.output<Filters>, RouteCaller<Access>>,
  ) => Promise<readonly Row[]>
  readonly toJson: (row: Row) => z.input<Item>
  /** The key that pages are cut by; the `id` of the row when left out. */
  readonly keyOf?: (row: Row) => string
}

/** `listRoute` for one set of permissions and switches: the compiler refuses any other. */
export type ListRoute<Permission extends string, Feature extends string> = <
  const Path extends `/${string}`,
  const Access extends RouteAccess<Permission>,
  Item extends z.ZodType,
  Row extends object,
  Params extends z.ZodType = DefaultParams<Path>,
  Filters extends z.ZodObject = z.ZodObject<Record<never, z.ZodType>>,
>(
  definition: ListDefinition<Path, Access, Params, Filters, Item, Row> & OfFeature<Feature>,
) => Operation

/** Declares a list; the top of this file says how. */
export function listRoute<
  const Path extends `/${string}`,
  const Access extends RouteAccess,
  Item extends z.ZodType,
  Row extends object,
  Params extends z.ZodType = DefaultParams<Path>,
  Filters extends z.ZodObject = z.ZodObject<Record<never, z.ZodType>>,
>(definition: ListDefinition<Path, Access, Params, Filters, Item, Row>): Operation {
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
function takingBlankSearch(list: Operation): Operation {
  return {
    ...list,
    run: (request) => {
      const { query: search, ...others } = request.query
      return list.run(isBlank(search) ? { ...request, query: others } : request)
    },
  }
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
  const query = textOf(context.query, 'query')
  const perPageText = textOf(context.query, 'per_page')
  const perPage = perPageText === undefined ? undefined : Number(perPageText)
  const cursor = textOf(context.query, 'cursor')?.trim()
  if (cursor === undefined) {
    return {
      cursor: '',
      queryText: query ?? '',
      search: parseSearch(query ?? '', fields),
      perPage: perPage ?? PER_PAGE_DEFAULT,
      lastKey: undefined,
    }
  }
  const contents = decodeCursor(cursor, pagingOf(context).cursorKey)
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

/** Blank parameters count as absent: clients send them whether or not they have something to say. */
function textOf(query: Record<string, unknown>, name: string): string | undefined {
  const value = query[name]
  return typeof value === 'string' && !isBlank(value) ? value : undefined
}

function isBlank(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === ''
}

function pagingOf({ paging }: Pick<ListContext, 'paging'>): Paging {
  if (paging === undefined) throw new Error('a list is mounted on a surface without paging')
  return paging
}

function paginationOf(
  context: ListContext,
  page: PageRequest,
  lastKey: string | undefined,
  count: number,
): z.input<typeof paginationSchema> {
  const { path } = context
  if (lastKey === undefined) {
    return { next: '', next_cursor: '', current_cursor: page.cursor, count }
  }
  const { queryText: query, perPage } = page
  const cursor = encodeCursor({ list: path, query, perPage, lastKey }, pagingOf(context).cursorKey)
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

function pick(values: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, values[name]]))
}

function idOf(row: object): string {
  if ('id' in row && typeof row.id === 'string') return row.id
  throw new Error('a row without a string id needs keyOf')
}
