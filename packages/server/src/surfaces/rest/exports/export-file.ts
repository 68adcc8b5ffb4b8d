/*
 * A list as a file that is made while it is sent: a page is read when the one before has been taken, so that neither
 * memory nor a connection of the database is held for a slow reader. Owns the bounds of a file.
 */
import { Readable } from 'node:stream'
import { AppError } from '../../../platform/app-error.ts'
import { MINUTE_MS, SECOND_MS, type Clock } from '../../../platform/clock.ts'
import { CSV_START, toCsvLine } from '../../../platform/http/csv.ts'
import type { Operation, OperationRequest } from '../../../platform/http/operation.ts'
import { columnsOf, readExportPage, toCell, type ListPage } from './exported-list.ts'

/** How far a file goes. */
export interface ExportFileLimits {
  /** Records of a file; a line at its end tells that there are more. */
  readonly rowsMax: number
  /** After which the file is cut off, in ms. */
  readonly durationMaxMs: number
}

/** As many rows as spreadsheets open, with the heads and the line at the end. */
export const EXPORT_FILE_LIMITS: ExportFileLimits = {
  rowsMax: 1_000_000,
  durationMaxMs: 15 * MINUTE_MS,
}

/** How often it is looked whether who began to read may still read. */
const ALLOWED_CHECK_MS = 5 * SECOND_MS

export interface ExportFileContext {
  readonly clock: Clock
  readonly limits: ExportFileLimits
}

/** The lines of a list, which begin with the page that has been read. What goes wrong ends them with an error. */
export function createExportFile(
  list: Operation,
  request: OperationRequest,
  first: ListPage,
  { clock, limits }: ExportFileContext,
): Readable {
  const lines = Readable.from(writeLines(list, request, first, { clock, limits }))
  // A file that ends early must not look like a whole one: the connection breaks.
  const timer = setTimeout(
    () => lines.destroy(new Error('the export took too long')),
    limits.durationMaxMs,
  )
  return lines.once('close', () => clearTimeout(timer))
}

async function* writeLines(
  list: Operation,
  request: OperationRequest,
  first: ListPage,
  { clock, limits: { rowsMax } }: ExportFileContext,
): AsyncGenerator<string> {
  const columns = columnsOf(list, first)
  yield CSV_START + toCsvLine(columns)
  let left = rowsMax
  let checkedAt = clock.now().getTime()
  for (let page = first; ;) {
    const rows = page.data.slice(0, left)
    left -= rows.length
    yield rows.map((row) => toCsvLine(columns.map((name) => toCell(row[name])))).join('')
    const { next_cursor: cursor } = page.pagination
    if (cursor === '' && rows.length === page.data.length) return
    if (left === 0) {
      yield toCsvLine([
        `There are more records: this file ends after ${rowsMax}. Narrow the search.`,
      ])
      return
    }
    if (clock.now().getTime() - checkedAt >= ALLOWED_CHECK_MS) {
      await assertStillAllowed(request)
      checkedAt = clock.now().getTime()
    }
    page = await readExportPage(list, request, cursor)
  }
}

/** A key may have been revoked, and a session ended, since the file began. */
async function assertStillAllowed({ isStillAllowed }: OperationRequest): Promise<void> {
  if (await isStillAllowed()) return
  throw new AppError('permission_missing', 'Who exports may no longer read the list.')
}
