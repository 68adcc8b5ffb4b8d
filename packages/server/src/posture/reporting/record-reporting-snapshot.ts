import { createHash } from 'node:crypto'
import type { Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'
import { boundSnapshot, type SnapshotContent } from './bound-snapshot.ts'
import {
  updateReportingRecords,
  updateReportingSnapshot,
  type ReportingSnapshot,
} from './reporting-snapshot-store.ts'

/** Records rows as {@link recordSnapshotContent} does, within their bounds; ignores unknown tables. */
export async function recordReportingSnapshot(
  tx: Transaction<Schema>,
  { rows, ...snapshot }: ReportingSnapshot & { readonly rows: readonly OsqueryRow[] },
  receivedAt: Date,
): Promise<void> {
  const content = boundSnapshot(snapshot.tableName, rows)
  if (content !== undefined) await recordSnapshotContent(tx, snapshot, content, receivedAt)
}

/**
 * Replaces what a device reported of a table before. Ignored are repeated snapshots, and older snapshots that
 * come close behind a newer one, as when a device sends its lines again. Later the order of arrival counts, for
 * the clock of a device may be wrong and be set right. A row that was there before keeps its record, with its id
 * and the time at which it was first collected.
 */
export async function recordSnapshotContent(
  tx: Transaction<Schema>,
  snapshot: ReportingSnapshot,
  { text }: SnapshotContent,
  receivedAt: Date,
): Promise<void> {
  const contentHash = createHash('sha256').update(text).digest()
  const isChanged = await updateReportingSnapshot(tx, snapshot, contentHash, receivedAt)
  if (isChanged) await updateReportingRecords(tx, snapshot, text, receivedAt)
}
