/*
 * Lists as files for spreadsheets. Each is read by the very operation that lists it, page by page, while it is sent:
 * the same records, search and permission. Owns which lists can be exported, and the bounds of a file.
 */
import { Readable } from 'node:stream'
import { z } from 'zod'
import type { RunChange } from '../../../changes/change.ts'
import { toOrigin } from '../../../changes/to-origin.ts'
import { AppError } from '../../../platform/app-error.ts'
import { CSV_MEDIA_TYPE, CSV_START, toCsvLine } from '../../../platform/http/csv.ts'
import { permissionOf, type Operation, type OperationRequest } from '../../../platform/http/operation.ts'
import { answer, route, streamedText, type ApiRoute } from '../../../schema/operations.ts'
import type { Permission } from '../../../schema/permissions.ts'
import type { Feature } from '../../../schema/features.ts'

/** The lists that can be exported, by their paths. */
const EXPORTED = [
  '/devices',
  '/people',
  '/checks',
  '/issues',
  '/auth_logs',
  '/audit_logs',
  '/deliveries',
  '/exemption_requests',
  '/registration_requests',
  '/live_query_campaigns/:id/query_results',
] as const

/** As many rows as spreadsheets open. */
const ROWS_MAX = 1_000_000
const PER_PAGE = '100'
/** Files that a process sends at a time. */
const EXPORTS_MAX = 8

type Row = Readonly<Record<string, unknown>>

interface ListPage {
  readonly data: readonly Row[]
  readonly pagination: { readonly next_cursor: string }
}

/** The routes, with one besides for each list that can be exported. */
export function withExports(routes: readonly ApiRoute[], runChange: RunChange): ApiRoute[] {
  const running = { count: 0 }
  const exported = EXPORTED.map((path) => {
    const list = routes.find((each) => each.path === path && each.method === 'GET')
    if (list === undefined) throw new Error(`there is no list ${path} to export`)
    return exportRoute(list, path, { runChange, running })
  })
  return [...routes, ...exported]
}

interface ExportContext {
  readonly runChange: RunChange
  readonly running: { count: number }
}

function exportRoute(
  list: Operation,
  path: (typeof EXPORTED)[number],
  { runChange, running }: ExportContext,
): ApiRoute {
  const file = `${path.split('/').at(-1) ?? ''}.csv`
  const hasSearch = list.query instanceof z.ZodObject && 'query' in list.query.shape
  return route({
    method: 'GET',
    path: `/exports${path}.csv`,
    operationId: `export${list.operationId.slice('get'.length)}`,
    summary: `Export as CSV: ${lowerFirst(list.summary)}`,
    description:
      'A file for spreadsheets, with all records that the search finds, in the order of the list. Texts that a spreadsheet would take for formulas have an apostrophe before them. Each export is in the audit log.',
    tags: list.tags,
    permission: permissionOf(list) as Permission | null,
    ...(list.feature === undefined ? {} : { feature: list.feature as Feature | null }),
    ...(hasSearch
      ? { query: z.object({ query: z.string().optional().describe('A search, as of the list.') }) }
      : {}),
    responses: { 200: streamedText(CSV_MEDIA_TYPE) },
    handler: async (context) => {
      const request = { ...context, path: withoutExport(context.path), rawQuery: {}, body: undefined }
      const search = (context.query as { readonly query?: string }).query ?? ''
      // Before the answer begins, so that a search that cannot be understood is refused.
      const first = await readPage(list, request, { query: search })
      if (running.count >= EXPORTS_MAX) {
        const message = `At most ${EXPORTS_MAX} exports can run at a time.`
        throw new AppError('rate_limited', message, { retryAfterSeconds: 10 })
      }
      await runChange(toOrigin(context), async (change) =>
        change.recordAudit({
          action: 'list.exported',
          target: null,
          description: `exported ${withoutExport(context.path)}${search === '' ? '' : ` with the search ${search.slice(0, 500)}`}`,
        }),
      )
      const lines = Readable.from(writeLines(list, request, first, search))
      running.count += 1
      lines.once('close', () => (running.count -= 1))
      return answer(200, lines, {
        'content-disposition': `attachment; filename="${file}"`,
        'cache-control': 'no-store',
      })
    },
  })
}

async function* writeLines(
  list: Operation,
  request: OperationRequest,
  first: ListPage,
  search: string,
): AsyncGenerator<string> {
  const columns = columnsOf(list)
  yield CSV_START + toCsvLine(columns)
  let count = 0
  for (let page = first; ; page = await readPage(list, request, { cursor: page.pagination.next_cursor })) {
    count += page.data.length
    // A file that ends early must not look like a whole one.
    if (count > ROWS_MAX) throw new Error(`the export of ${search} has more than ${ROWS_MAX} rows`)
    yield page.data.map((row) => toCsvLine(columns.map((name) => toCell(row[name])))).join('')
    if (page.pagination.next_cursor === '') return
  }
}

async function readPage(
  list: Operation,
  request: OperationRequest,
  { query = '', cursor = '' }: { readonly query?: string; readonly cursor?: string },
): Promise<ListPage> {
  const search = query === '' ? {} : { query }
  const place = cursor === '' ? {} : { cursor }
  const { body } = await list.run({ ...request, query: { per_page: PER_PAGE, ...search, ...place } })
  return body as ListPage
}

/** The members of the records of a list, as its answer is documented. */
function columnsOf({ path, responses }: Operation): string[] {
  const page = responses[200]
  const data = page instanceof z.ZodObject ? (page.shape['data'] as unknown) : undefined
  const item = data instanceof z.ZodArray ? data.element : undefined
  if (item instanceof z.ZodObject) return Object.keys(item.shape)
  throw new Error(`the records of ${path} have no known members`)
}

/** Of a link to another record its id. */
function toCell(value: unknown): unknown {
  const isLink = typeof value === 'object' && value !== null && 'identifier' in value && 'link' in value
  return isLink ? value.identifier : value
}

function withoutExport(path: string): string {
  return path.replace(/^\/exports/, '').replace(/\.csv$/, '')
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
