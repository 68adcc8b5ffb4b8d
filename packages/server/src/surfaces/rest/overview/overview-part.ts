import type { Foundation, ServicePart } from '../../../changes/foundation.ts'
import { SECOND_MS } from '../../../platform/clock.ts'
import { overviewRoutes } from './overview-routes.ts'

/** However many consoles are open, the devices are counted once in this time. */
const FRESH_MS = 5 * SECOND_MS

/** What needs attention now, over all wings. */
export function createOverviewPart(foundation: Pick<Foundation, 'db' | 'clock'>): ServicePart {
  return {
    name: 'overview',
    roles: ['api'],
    operations: overviewRoutes({ ...foundation, freshMs: FRESH_MS }),
  }
}
