import type { Foundation, ServicePart } from '../../../changes/foundation.ts'
import { overviewRoutes } from './overview-routes.ts'

/** What needs attention now, over all wings. */
export function createOverviewPart(foundation: Pick<Foundation, 'db' | 'clock'>): ServicePart {
  return { name: 'overview', roles: ['api'], operations: overviewRoutes(foundation) }
}
