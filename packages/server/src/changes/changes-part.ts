import { auditRetention } from './audit/audit-retention.ts'
import { auditRoutes } from './audit/audit-routes.ts'
import { checkpointRoutes } from './audit/checkpoints/checkpoint-routes.ts'
import type { Foundation, ServicePart } from './foundation.ts'

export interface AuditSettings {
  /** 0 keeps entries for ever. */
  readonly auditRetentionDays: number
}

/** Reading the audit log, and for how long it is kept. */
export function createChangesPart(
  { db, runChange }: Pick<Foundation, 'db' | 'runChange'>,
  { auditRetentionDays }: AuditSettings,
): ServicePart {
  return {
    name: 'audit log',
    roles: ['api'],
    operations: [...auditRoutes(db), ...checkpointRoutes(db)],
    retention: [auditRetention({ db, runChange }, auditRetentionDays)],
  }
}
