import type { Kysely, Selectable } from 'kysely'
import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import type { Schema } from '../../schema/schema.ts'
import { listRecords, showRecord, type ApiRoute } from '../../schema/operations.ts'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
import { AUDIT_LIST } from './audit-read.ts'

const actorSchema = z.object({
  actor_name: z.string(),
  actor_email: z.string().nullable(),
  actor_type: z.enum(['User', 'ApiKey', 'System', 'Person']),
})

const auditLogSchema = z
  .object({
    id: z.string(),
    timestamp: timestampSchema,
    actor_name: z.string(),
    description: z.string(),
    actor_info: actorSchema,
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

function toAuditLogJson(entry: Selectable<Schema['audit_entry']>) {
  const { target_type: type, target_id: identifier } = entry
  return toWire(auditLogSchema, entry, {
    id: entry.sequence,
    timestamp: toTimestamp(entry.recorded_at),
    actor_info: toWire(actorSchema, entry),
    target: type === null || identifier === null ? null : { type, identifier },
  })
}
