import type { Foundation, ServicePart } from '../changes/foundation.ts'
import { fixedRetention } from '../schema/retention.ts'
import { clientRoutes } from './clients/client-routes.ts'
import { wellKnownRoutes } from './streams/well-known-routes.ts'

export interface ReceiverSettings {
  readonly baseUrl: string
  readonly ssfVerificationEndpoint: 'concrete' | 'template'
}

/** How receivers find the transmitter, and the OAuth clients that they are. */
export function createReceiversPart(
  { clock, db, runChange }: Foundation,
  { baseUrl, ssfVerificationEndpoint: verificationEndpoint }: ReceiverSettings,
): ServicePart {
  return {
    name: 'receivers',
    roles: ['api'],
    operations: [
      ...wellKnownRoutes({ baseUrl, verificationEndpoint }),
      ...clientRoutes({ db, clock, baseUrl, runChange }),
    ],
    retention: [
      fixedRetention('access tokens'),
      fixedRetention('client assertions'),
      fixedRetention('client secrets'),
    ],
  }
}
