import type { Kysely, Selectable } from 'kysely'
import { z } from 'zod'
import type { Schema } from '../../schema/schema.ts'
import type { AuditEntryTable } from '../../schema/tables/organisation-tables.ts'
import { listRecords, showRecord, type ApiRoute } from '../../schema/operations.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import { AUDIT_LIST } from './audit-read.ts'

const auditLogSchema = z
  .object({
    id: z.string(),
    timestamp: timestampSchema,
    actor_name: z.string(),
    description: z.string(),
    actor_info: z.object({
      actor_name: z.string(),
      actor_email: z.string().nullable(),
      actor_type: z.enum(['User', 'ApiKey', 'System', 'Person']),
    }),
    action: z.string().describe('What was done, as a stable word such as `api_key.created`.'),
    target: z
      .object({ type: z.string(), identifier: z.string() })
      .nullable()
      .describe('What it was done to.'),
  })
  .meta({ id: 'AuditLog' })

/** Reading the audit log. */
export function auditRoutes(db: Kysely<Schema>): ApiRoute[] {
  const access = { tags: ['Audit logs'], permission: null } as const
  const entries = { db, list: AUDIT_LIST, item: auditLogSchema, toJson: toAuditLogJson }
  return [
    listRecords(entries, { ...access, path: '/audit_logs', summary: 'List audit log entries' }),
    showRecord(entries, { ...access, path: '/audit_logs/:id', summary: 'Show an audit log entry' }),
  ]
}

function toAuditLogJson(entry: Selectable<AuditEntryTable>): z.input<typeof auditLogSchema> {
  return {
    id: entry.sequence,
    timestamp: toTimestamp(entry.recorded_at),
    actor_name: entry.actor_name,
    description: entry.description,
    actor_info: {
      actor_name: entry.actor_name,
      actor_email: entry.actor_email,
      actor_type: entry.actor_type,
    },
    action: entry.action,
    target:
      entry.target_type === null || entry.target_id === null
        ? null
        : { type: entry.target_type, identifier: entry.target_id },
  }
}
