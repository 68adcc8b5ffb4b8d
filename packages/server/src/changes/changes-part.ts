import { auditRoutes } from './audit/audit-routes.ts'
import type { Foundation, ServicePart } from './foundation.ts'

/** The audit log. */
export function createChangesPart({ db }: Pick<Foundation, 'db'>): ServicePart {
  return { name: 'audit log', roles: ['api'], operations: auditRoutes(db) }
}
