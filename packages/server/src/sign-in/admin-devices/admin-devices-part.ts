import type { Foundation, ServicePart } from '../../changes/foundation.ts'
import { createRateLimitStore } from '../../platform/rate-limits/rate-limit-store.ts'
import { adminDeviceRoutes, type AdminDeviceDependencies } from './admin-device-routes.ts'

type AdminDevicesFoundation = Pick<Foundation, 'db' | 'clock' | 'runChange'>
type AdminDevicesOptions = Pick<AdminDeviceDependencies, 'baseUrl' | 'site' | 'deviceTrust'>

/** The devices from which admins use the console. */
export function createAdminDevicesPart(
  { db, clock, runChange }: AdminDevicesFoundation,
  options: AdminDevicesOptions,
): ServicePart {
  const rateLimiter = createRateLimitStore(db, clock)
  return {
    name: 'admin devices',
    roles: ['api'],
    operations: adminDeviceRoutes({ db, clock, runChange, rateLimiter, ...options }),
  }
}
