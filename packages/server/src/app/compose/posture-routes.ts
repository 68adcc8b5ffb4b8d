import { checkResultRoutes } from '../../posture/checks/check-result-routes.ts'
import { checkRunRoutes } from '../../posture/checks/check-run-routes.ts'
import { deviceGroupRoutes } from '../../posture/device-groups/device-group-routes.ts'
import type { StatusDependencies } from '../../posture/devices/change-device-status.ts'
import { deviceWriteRoutes } from '../../posture/devices/device-write-routes.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import type { ApiRoute } from '../../platform/http/route.ts'
import type { Services } from '../services.ts'

/** The routes that change devices, group them, and ask for or report results. */
export function postureRoutes(
  services: Pick<Services, 'config' | 'db' | 'clock' | 'runChange'>,
  status: StatusDependencies,
): ApiRoute[] {
  const { config, clock, db, runChange } = services
  const { baseUrl, deviceDeletionDelaySeconds } = config
  const checkIntervalMs = config.checkIntervalSeconds * SECOND_MS
  return [
    ...deviceWriteRoutes({ baseUrl, runChange, deviceDeletionDelaySeconds }),
    ...deviceGroupRoutes({ db, baseUrl, runChange, status }),
    ...checkResultRoutes({ db, clock, runChange, baseUrl, checkIntervalMs }),
    ...checkRunRoutes({ runChange, status }),
  ]
}
