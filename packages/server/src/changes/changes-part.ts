import { auditRoutes } from './audit/audit-routes.ts'
import { checkpointRoutes } from './audit/checkpoints/checkpoint-routes.ts'
import type { Foundation, ServicePart } from './foundation.ts'

/** Reading the audit log. */
export function createChangesPart({ db }: Pick<Foundation, 'db'>): ServicePart {
  return {
    name: 'audit log',
    roles: ['api'],
    operations: [...auditRoutes(db), ...checkpointRoutes(db)],
  }
}
