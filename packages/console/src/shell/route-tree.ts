/* Every route of the console. */
import { auditLogRoutes } from '../audit-log/routes.ts'
import { checkRoutes } from '../checks/routes.ts'
import { deliveryRoutes } from '../deliveries/routes.ts'
import { deviceRoutes } from '../devices/routes.ts'
import { groupRoutes } from '../groups/routes.ts'
import { issueRoutes } from '../issues/routes.ts'
import { liveQueryRoutes } from '../live-queries/routes.ts'
import { nowRoutes } from '../now/routes.ts'
import { peopleRoutes } from '../people/routes.ts'
import { reportRoutes } from '../reports/routes.ts'
import { requestRoutes } from '../requests/routes.ts'
import { settingsRoutes } from '../settings/routes.ts'
import { signInRoutes } from '../sign-in/routes.ts'
import { signInGateRoutes } from '../sign-in-gate/routes.ts'
import { signInJournalRoutes } from '../sign-ins/routes.ts'
import { streamRoutes } from '../streams/routes.ts'
import { trustedDeviceRoutes } from '../trusted-device/routes.ts'
import { webhookRoutes } from '../webhooks/routes.ts'
import { eventSearchRoutes } from '../event-search/routes.ts'
import { signingKeyRoutes } from '../signing-keys/routes.ts'
import { ssfClientRoutes } from '../ssf-clients/routes.ts'
import { frameRoute, rootRoute } from './root-route.tsx'

export const routeTree = rootRoute.addChildren([
  ...signInRoutes,
  ...trustedDeviceRoutes,
  frameRoute.addChildren([
    ...nowRoutes,
    ...deviceRoutes,
    ...peopleRoutes,
    ...groupRoutes,
    ...liveQueryRoutes,
    ...reportRoutes,
    ...checkRoutes,
    ...issueRoutes,
    ...requestRoutes,
    ...signInJournalRoutes,
    ...streamRoutes,
    ...webhookRoutes,
    ...deliveryRoutes,
    ...eventSearchRoutes,
    ...ssfClientRoutes,
    ...signingKeyRoutes,
    ...auditLogRoutes,
    ...settingsRoutes,
    ...signInGateRoutes,
  ]),
])
