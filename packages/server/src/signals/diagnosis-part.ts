import type { Foundation, ServicePart } from '../changes/foundation.ts'
import { allDeliveriesRoutes } from './diagnosis/deliveries/all-deliveries-routes.ts'
import { createSeeDestinations } from './diagnosis/deliveries/seen-destinations.ts'
import { eventSearchRoutes } from './diagnosis/event-search/event-search-routes.ts'

export interface DiagnosisDependencies {
  /** Whether Shared Signals are switched on. */
  readonly isSsfEnabled: () => Promise<boolean>
}

/** What became of events, across all streams and webhooks. */
export function createDiagnosisPart(
  { clock, db, sealer }: Foundation,
  { isSsfEnabled }: DiagnosisDependencies,
): ServicePart {
  const seeDestinations = createSeeDestinations(isSsfEnabled)
  return {
    name: 'diagnosis',
    roles: ['api'],
    operations: [
      ...allDeliveriesRoutes({ db, seeDestinations }),
      ...eventSearchRoutes({ db, clock, sealer, seeDestinations }),
    ],
  }
}
