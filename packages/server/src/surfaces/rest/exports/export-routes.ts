/*
 * Lists as files for spreadsheets. Each is read by the very operation that lists it: the same records, search, filters
 * and permission. Owns how an export begins: its refusals, and its entry in the audit log.
 */
import type { z } from 'zod'
import type { Foundation } from '../../../changes/foundation.ts'
import { toOrigin } from '../../../changes/to-origin.ts'
import { CSV_MEDIA_TYPE } from '../../../platform/http/csv.ts'
import {
  permissionOf,
  type Caller,
  type Operation,
  type RequestFacts,
} from '../../../platform/http/operation.ts'
import type { Feature } from '../../../schema/features.ts'
import { answer, route, streamedText, type ApiRoute } from '../../../schema/operations.ts'
import type { Permission } from '../../../schema/permissions.ts'
import { createExportFile, EXPORT_FILE_LIMITS, type ExportFileContext } from './export-file.ts'
import { ExportSlots } from './export-slots.ts'
import { exportQuery, isExportable, readExportPage } from './exported-list.ts'

/** An export reads one page at a time: so many can read at once without being felt by others. */
const SLOT_LIMITS = { max: 4, perCallerMax: 2 }

const DESCRIPTION =
  'A file for spreadsheets with all records that the search finds, a line each, in the order of the list. Its columns are the members of the records; links are ids, and what has members is JSON. Texts that a spreadsheet would take for formulas have an apostrophe before them. Records that come or go meanwhile may be missing. After 1,000,000 records the file ends with a line that says so; a file that is not whole after 15 minutes is cut off. A caller can export two lists at a time. Each export is in the audit log.'

const SEARCH_LENGTH_MAX = 500

export type ExportDependencies = Pick<Foundation, 'clock' | 'runChange'>

/** The routes, and after them one for each list among them by which it can be exported. */
export function withExports(
  routes: readonly ApiRoute[],
  { clock, runChange }: ExportDependencies,
): ApiRoute[] {
  const context = {
    runChange,
    slots: new ExportSlots(SLOT_LIMITS),
    file: { clock, limits: EXPORT_FILE_LIMITS },
  }
  return [...routes, ...routes.filter(isExportable).map((list) => exportRoute(list, context))]
}

interface ExportContext {
  readonly runChange: Foundation['runChange']
  readonly slots: ExportSlots
  readonly file: ExportFileContext
}

function exportRoute(list: Operation, { runChange, slots, file }: ExportContext): ApiRoute {
  return route({
    method: 'GET',
    path: `/exports${list.path as `/${string}`}.csv`,
    operationId: `export${list.operationId.replace(/^get/, '')}`,
    summary: `Export as CSV: ${list.summary.charAt(0).toLowerCase()}${list.summary.slice(1)}`,
    description: DESCRIPTION,
    tags: list.tags,
    permission: permissionOf(list) as Permission | null,
    stepUp: true,
    mayConflict: list.mayConflict,
    ...(list.feature === undefined ? {} : { feature: list.feature as Feature | null }),
    ...(list.versions === undefined ? {} : { versions: list.versions }),
    params: list.params as z.ZodType<Readonly<Record<string, string>>>,
    query: exportQuery(list),
    responses: { 200: streamedText(CSV_MEDIA_TYPE) },
    handler: async (context) => {
      const path = toListPath(context)
      const request = { ...context, path, query: context.rawQuery, body: undefined }
      const giveBack = slots.take(`${context.principal.kind}:${context.principal.id}`)
      try {
        // Before the answer begins, so that what the list refuses is refused.
        const first = await readExportPage(list, request)
        // The head of a file tells nothing of what is in it.
        if (context.method !== 'HEAD') await recordExport(runChange, context, path)
        const lines = createExportFile(list, request, first, file)
        return answer(200, lines.once('close', giveBack), {
          'content-disposition': `attachment; filename="${path.split('/').at(-1) ?? ''}.csv"`,
          'cache-control': 'no-store',
        })
      } catch (error) {
        giveBack()
        throw error
      }
    },
  })
}

async function recordExport(
  runChange: Foundation['runChange'],
  request: RequestFacts & { readonly principal: Caller },
  path: string,
): Promise<void> {
  const { query: search = '', ...filters } = request.rawQuery
  const searched =
    search.trim() === '' ? '' : ` with the search ${search.slice(0, SEARCH_LENGTH_MAX)}`
  await runChange(toOrigin(request), async (change) => {
    change.recordAudit({
      action: 'list.exported',
      target: null,
      description: `exported ${path}${searched}`,
      after: { path, search: search.slice(0, SEARCH_LENGTH_MAX), ...filters },
    })
  })
}

/** The path of the list that is exported under this one. */
function toListPath({ path }: RequestFacts): string {
  return path.replace(/^\/exports/, '').replace(/\.csv$/, '')
}
