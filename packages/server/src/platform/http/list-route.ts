/*
 * The one way to declare a list. It reads `cursor`, `per_page` and `query`, asks for one row more than the
 * page holds, and writes the list envelope. What is read and how it looks on the wire is a resource, which
 * is listed under one path or more and shown under another:
 *
 *     export function deviceResource(db: Kysely<Schema>, baseUrl: string) {
 *       return {
 *         db,
 *         list: DEVICE_LIST,
 *         item: deviceSchema,
 *         toJson: (device: DeviceRecord) => toDeviceJson(baseUrl, device),
 *       }
 *     }
 *
 *     const access = { tags: ['Devices'], permission: null } as const
 *     listRecords(devices, { ...access, path: '/devices', summary: 'List devices' }),
 *     showRecord(devices, { ...access, path: '/devices/:id', summary: 'Show a device' }),
 *
 * `listRoute` is for rows of another kind. Its `fetch` reads `window.limit` rows after `window.afterId`
 * that the search finds, in ascending order of their keys; in descending order too where it is `isOrdered`.
 */
import type { Expression, Kysely, SqlBool } from 'kysely'
import { z } from 'zod'
import { PER_PAGE_DEFAULT, toPage, type PageWindow } from '../db/page.ts'
import { toAhead } from '../db/read-ahead.ts'
import { readFromReplica } from '../db/read-replica.ts'
import type { SearchExpression, SearchField } from '../search/search-field.ts'
import { isId } from '../ids.ts'
import { isUsualLimit, type RecordList } from '../search/record-list.ts'
import { isBlank, paginationOf, paginationSchema, readPageRequest } from './cursor.ts'
import type { Expansions, LoadRecords } from './expand.ts'
import { listQuerySchema, searchExamples } from './list-query.ts'
import type { Caller, Operation, OperationRequest } from './operation.ts'
import {
  route,
  type DefaultParams,
  type OfFeature,
  type RouteAccess,
  type RouteCaller,
  type RouteContext,
  type RouteDeclaration,
} from './route.ts'
import { parseRequestPart } from './validation.ts'

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
  /** Whether the client may ask for the list in descending order, so that `window.isDescending` counts. */
  readonly isOrdered?: boolean
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
export const listRoute: ListRoute<string, string> = (definition) => {
  const fields = definition.fields ?? []
  const { filters, item, fetch, toJson, keyOf = idOf, params, fieldsOf, ...others } = definition
  const { isOrdered = false, ...declared } = others
  const filterNames = Object.keys(filters?.shape ?? {})
  const list = route({
    ...declared,
    ...(params === undefined ? {} : { params }),
    method: 'GET',
    query: listQuerySchema(fields, { isSearchedByPath: fieldsOf !== undefined, isOrdered }).extend(
      filters?.shape ?? {},
    ),
    queryExamples: searchExamples(fields),
    searchFields: fields,
    responses: { 200: z.object({ data: z.array(item), pagination: paginationSchema }) },
    handler: async (context) => {
      const page = readPageRequest(context, fieldsOf?.(context.params) ?? fields, filterNames)
      const request = {
        ...context,
        // Of a page that a cursor alone continues, not the query of the request.
        filters: parseRequestPart(filters ?? NO_FILTERS, page.filters, 'query') as never,
        search: page.search,
        window: {
          afterId: page.lastKey,
          limit: page.perPage + 1,
          isDescending: page.isDescending,
        },
      }
      const rows = await readFromReplica(async () => fetch(request))
      const { rows: shown, hasMore } = toPage(rows, page.perPage)
      const last = hasMore ? shown.at(-1) : undefined
      return {
        data: shown.map(toJson),
        pagination: paginationOf(context, page, last && keyOf(last), shown.length),
      }
    },
  })
  return takingBlankParameters(list, [...filterNames, 'cursor', 'per_page', 'query', 'order'])
}

/**
 * Clients send blank parameters whether or not they have something to say, and a blank `query` also where there is
 * nothing to search.
 */
function takingBlankParameters(list: Operation, names: readonly string[]): Operation {
  return {
    ...list,
    run: (request) => {
      const blank = names.filter((name) => isBlank(request.query[name]))
      if (blank.length === 0) return list.run(request)
      const given = Object.entries(request.query).filter(([name]) => !blank.includes(name))
      return list.run({ ...request, query: Object.fromEntries(given) })
    },
  }
}

const NO_FILTERS = z.object({})

function idOf(row: object): string {
  if ('id' in row && typeof row.id === 'string') return row.id
  throw new Error('a row without a string id needs keyOf')
}

/** Records that the API lists and shows. */
export interface Resource<Schema, Row extends object, Item extends z.ZodType> {
  readonly db: Kysely<Schema>
  readonly list: RecordList<Schema, object, Row>
  readonly item: Item
  readonly toJson: (row: Row) => z.input<Item>
  /** What `expand` can put into a record. */
  readonly expand?: Expansions
}

/** What `listRecords` declares beside the resource. */
export interface RecordListDefinition<
  Path extends string,
  Access extends RouteAccess,
> extends RouteDeclaration<Path, Access> {
  /** Lists only those records that belong to what the path names, and that the caller may see. */
  readonly scope?: (
    params: z.output<DefaultParams<Path>>,
    caller: Caller,
  ) => Promise<Expression<SqlBool>>
}

/** `listRecords` for one set of permissions and switches. */
export type ListRecords<Permission extends string, Feature extends string> = <
  const Path extends `/${string}`,
  const Access extends RouteAccess<Permission>,
  Schema,
  Row extends object,
  Item extends z.ZodType,
>(
  resource: Resource<Schema, Row, Item>,
  definition: RecordListDefinition<Path, Access> & OfFeature<Feature>,
) => Operation

/** Lists the records of a resource. */
export const listRecords: ListRecords<string, string> = (
  { db, list, ...shown },
  { scope: findScope, ...declared },
) =>
  listRoute({
    ...declared,
    ...shown,
    fields: list.fields,
    isOrdered: true,
    ...(findScope === undefined && {
      readAhead: ({ query }: Pick<OperationRequest, 'query'>) => {
        const window = readFirstWindow(query)
        return window && toAhead(db, (by) => list.toPageStatement(by, window), window.limit)
      },
    }),
    fetch: async ({ params, principal, search, window, ahead }) => {
      const scope = await findScope?.(params, principal as Caller)
      return list.listPage(db, { search, window, scope, ahead })
    },
    keyOf: (row) => list.keyOf(row),
  })

/** The first page of a list, where a request that nobody has checked asks for no more than that. */
function readFirstWindow(query: OperationRequest['query']): PageWindow | undefined {
  const { per_page: perPage = PER_PAGE_DEFAULT, ...others } = query
  if (Object.keys(others).length > 0) return undefined
  const limit = Number(perPage) + 1
  return isUsualLimit(limit) ? { afterId: undefined, limit } : undefined
}

/** `showRecord` for one set of permissions and switches. */
export type ShowRecord<Permission extends string, Feature extends string> = <
  const Path extends `/${string}/:id`,
  const Access extends RouteAccess<Permission>,
  Schema,
  Row extends object,
  Item extends z.ZodType,
>(
  resource: Resource<Schema, Row, Item>,
  definition: RouteDeclaration<Path, Access> & OfFeature<Feature>,
) => Operation

/** Shows the record of a resource that the path names by its id. */
export const showRecord: ShowRecord<string, string> = (
  { db, list, item, toJson, ...shown },
  declared,
) =>
  route({
    ...declared,
    ...shown,
    method: 'GET',
    responses: { 200: item },
    readAhead: ({ params: { id = '' } }) =>
      isId(id) ? toAhead(db, (by) => list.toFindStatement(by, id), 1) : undefined,
    handler: async ({ params, ahead }) => {
      const { id } = params as { readonly id: string }
      return toJson(await readFromReplica(() => list.get(db, id, ahead)))
    },
  })

/** Reads the records that links of other resources lead to. */
export function loadRecords<Schema, Row extends object, Item extends z.ZodType<unknown, object>>({
  db,
  list,
  toJson,
}: Resource<Schema, Row, Item>): LoadRecords {
  return async (ids) => {
    const rows = await list.listWithIds(db, ids)
    return new Map(rows.map((row) => [list.keyOf(row), toJson(row)]))
  }
}
