import { sql, type Selectable, type Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { AuditFields, JsonObject } from './audit-entry.ts'

export type AuditEntryRow = Selectable<Schema['audit_entry']>

/**
 * Appends entries to the audit log in their order, as the last statement of their change. They are chained
 * after the commit, so that no change waits for another one.
 */
export async function appendAuditEntries(
  tx: Transaction<Schema>,
  entries: readonly AuditFields[],
): Promise<void> {
  if (entries.length === 0) return
  await sql`select append_audit_entries(${JSON.stringify(entries)}::jsonb)`.execute(tx)
}

/** The hashed columns of a stored entry. */
export function toAuditFields(row: AuditEntryRow): AuditFields {
  return {
    recorded_at: row.recorded_at.toISOString(),
    actor_type: row.actor_type,
    actor_id: row.actor_id,
    actor_name: row.actor_name,
    actor_email: row.actor_email,
    action: row.action,
    target_type: row.target_type,
    target_id: row.target_id,
    description: row.description,
    before: row.before as JsonObject | null,
    after: row.after as JsonObject | null,
    txn: row.txn,
    request_id: row.request_id,
    ip_address: row.ip_address,
  }
}
