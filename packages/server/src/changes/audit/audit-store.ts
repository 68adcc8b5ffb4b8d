import { sql, type Transaction } from 'kysely'
import { UNAWAITED } from '../../platform/db/unawaited.ts'
import type { StoredRecord } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'
import type { AuditFields, JsonObject } from './audit-entry.ts'

export type AuditEntryRow = StoredRecord<'audit_entry'>

/**
 * Appends entries to the audit log in their order, as the last statement of their change. They are chained
 * after the commit, so that no change waits for another one.
 */
export async function appendAuditEntries(
  tx: Transaction<Schema>,
  entries: readonly AuditFields[],
): Promise<void> {
  if (entries.length === 0) return
  const text = JSON.stringify(entries)
  await sql`${UNAWAITED} select append_audit_entries(${text}::jsonb)`.execute(tx)
}

/** The hashed columns of a stored entry. */
export function toAuditFields(row: AuditEntryRow): AuditFields {
  return {
    recorded_at: row.recordedAt.toISOString(),
    actor_type: row.actorType,
    actor_id: row.actorId,
    actor_name: row.actorName,
    actor_email: row.actorEmail,
    action: row.action,
    target_type: row.targetType,
    target_id: row.targetId,
    description: row.description,
    before: row.before as JsonObject | null,
    after: row.after as JsonObject | null,
    txn: row.txn,
    request_id: row.requestId,
    ip_address: row.ipAddress,
  }
}
