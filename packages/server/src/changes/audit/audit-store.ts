import { sql, type Kysely, type Selectable, type Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { toCanonicalText, type AuditFields, type JsonObject } from './audit-entry.ts'

export type AuditEntryRow = Selectable<Schema['audit_entry']>

/**
 * Hands entries to the hash chain in their order. They are appended when the transaction commits, so
 * that nobody holds the lock of the chain longer than a commit takes.
 */
export async function appendAuditEntries(
  tx: Transaction<Schema>,
  entries: readonly AuditFields[],
): Promise<void> {
  if (entries.length === 0) return
  const rows = entries.map((entry) => ({ ...entry, canonical: toCanonicalText(entry) }))
  await sql`insert into audit_pending (entries) values (${JSON.stringify(rows)}::jsonb)`.execute(tx)
}

/** The entries after `afterSequence` in the order of the chain, `limit` at most. */
export async function listChain(
  db: Kysely<Schema>,
  afterSequence: string,
  limit: number,
): Promise<AuditEntryRow[]> {
  return db
    .selectFrom('audit_entry')
    .selectAll()
    .where('sequence', '>', afterSequence)
    .orderBy('sequence')
    .limit(limit)
    .execute()
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
