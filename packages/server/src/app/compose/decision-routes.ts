import { checkConfigurationRoutes } from '../../posture/checks/configuration/check-configuration-routes.ts'
import { customCheckDraftRoutes } from '../../posture/checks/drafts/draft-routes.ts'
import type { StatusDependencies } from '../../posture/devices/change-device-status.ts'
import { registrationRequestRoutes } from '../../posture/devices/registration-requests/registration-request-routes.ts'
import { exemptionRequestRoutes } from '../../posture/issues/exemptions/exemption-request-routes.ts'
import type { ApiRoute } from '../../platform/http/route.ts'
import type { Services } from '../services.ts'

/** The routes by which admins decide: what checks do, and what becomes of the requests of people. */
export function decisionRoutes(
  { config, db, runChange }: Pick<Services, 'config' | 'db' | 'runChange'>,
  status: StatusDependencies,
): ApiRoute[] {
  const { baseUrl } = config
  return [
    ...checkConfigurationRoutes({ db, runChange, status }),
    ...customCheckDraftRoutes({ db, runChange, status }),
    ...exemptionRequestRoutes({ db, baseUrl, runChange, status }),
    ...registrationRequestRoutes({ db, baseUrl, runChange }),
  ]
}
