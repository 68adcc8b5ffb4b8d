import type { Change } from '../../changes/change.ts'
import { getDeviceForUpdate, notifyDeviceChanged } from '../devices/device-store.ts'
import { notFound, conflict } from '../../platform/app-error.ts'
import { isId } from '../../platform/ids.ts'
import { upsertCheckRefresh, type DeviceCheck } from './check-result-store.ts'
import { listDeviceChecks } from './list-device-checks.ts'

/** A request to run a check on a device at once. */
export interface CheckRefresh {
  readonly deviceId: string
  readonly checkId: string
  readonly requestedAt: Date
}

/**
 * Asks for a check to run on a device as soon as it checks in; the device then polls quickly until it
 * has answered. The request lasts until an answer comes that was asked for later; asking again moves
 * its time.
 *
 * @throws AppError `not_found` without the device or the check; `conflict` when the device cannot run
 * it: not enrolled, the check is paused, aimed at others or reported by another system
 */
export async function requestCheckRefresh(
  change: Change,
  deviceId: string,
  checkId: string,
): Promise<CheckRefresh> {
  const { tx, at } = change
  const device = await getDeviceForUpdate(tx, deviceId)
  const [check] = isId(checkId)
    ? await listDeviceChecks(tx, [{ deviceId: device.id, checkIds: [checkId] }])
    : []
  if (check === undefined) throw notFound('check', checkId)
  const obstacle = findObstacle(check, device.nodeKeyHash !== null)
  if (obstacle !== undefined) throw conflict(obstacle)
  await upsertCheckRefresh(tx, { device_id: device.id, check_id: check.checkId, requested_at: at })
  await notifyDeviceChanged(tx, device.id)
  change.recordAudit({
    action: 'check.refresh_requested',
    target: { type: 'device', id: device.id },
    description: `asked ${device.name} to run ${check.name} again`,
    after: { check_id: check.checkId },
  })
  return { deviceId: device.id, checkId: check.checkId, requestedAt: at }
}

function findObstacle(check: DeviceCheck, isEnrolled: boolean): string | undefined {
  if (!isEnrolled) return 'The device is not enrolled: it runs no checks.'
  if (check.type === 'external') return 'The check is reported by another system.'
  if (!check.isTargeted) return 'The check does not run on this device.'
  if (check.isPaused) return 'The check is paused.'
  return undefined
}
