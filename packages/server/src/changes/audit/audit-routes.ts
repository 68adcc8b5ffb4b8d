import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { StoredRecord } from '../../schema/define-table.ts'
import { toWire } from '../../platform/wire/to-wire.ts'
import type { Schema } from '../../schema/schema.ts'
import { listRecords, route, showRecord, type ApiRoute } from '../../schema/operations.ts'
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
    actor: actorSchema.describe('Who did it.'),
    actor_info: actorSchema.describe('The same as `actor`, under the name that K2 clients know.'),
    action: z.string().describe('What was done, as a stable word such as `api_key.created`.'),
    target: z
      .object({ type: z.string(), identifier: z.string() })
      .nullable()
      .describe('What it was done to.'),
  })
  .meta({ id: 'AuditLog' })

const changesSchema = z
  .object({
    id: z.string(),
    before: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('What was so before, of the members that changed; null where nothing was.'),
    after: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('What has been so since then; null where nothing is any more.'),
    request_id: z.string().nullable().describe('The request that did it, as its answer named it.'),
  })
  .meta({ id: 'AuditLogChanges' })

/** Reading the audit log. */
export function auditRoutes(db: Kysely<Schema>): ApiRoute[] {
  const access = { tags: ['Audit logs'], permission: null } as const
  const entries = { db, list: AUDIT_LIST, item: auditLogSchema, toJson: toAuditLogJson }
  return [
    listRecords(entries, { ...access, path: '/audit_logs', summary: 'List audit log entries' }),
    showRecord(entries, { ...access, path: '/audit_logs/:id', summary: 'Show an audit log entry' }),
    route({
      tags: access.tags,
      permission: 'Manage Admins',
      method: 'GET',
      path: '/audit_logs/:id/changes',
      summary: 'Show what an audit log entry changed',
      description: 'The values before and after, in which names and addresses of people may stand.',
      responses: { 200: changesSchema },
      handler: async ({ params }) => toChangesJson(await AUDIT_LIST.get(db, params.id)),
    }),
  ]
}

function toChangesJson(entry: StoredRecord<'audit_entry'>): z.input<typeof changesSchema> {
  return {
    id: entry.sequence,
    before: entry.before as Record<string, unknown> | null,
    after: entry.after as Record<string, unknown> | null,
    request_id: entry.requestId,
  }
}

function toAuditLogJson(entry: StoredRecord<'audit_entry'>) {
  const { targetType: type, targetId: identifier } = entry
  return toWire(auditLogSchema, entry, {
    id: entry.sequence,
    timestamp: toTimestamp(entry.recordedAt),
    actor: toWire(actorSchema, entry),
    actor_info: toWire(actorSchema, entry),
    target: type === null || identifier === null ? null : { type, identifier },
  })
}
