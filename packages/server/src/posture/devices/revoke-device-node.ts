import type { Change } from '../../changes/change.ts'
import {
  getDeviceForUpdate,
  notifyDeviceChanged,
  updateDevice,
  type Device,
} from './device-store.ts'

/**
 * Ends the node key of a device: its next request is told so and it has to enroll again. With
 * `disableAgent` it cannot enroll either until that is lifted. Idempotent.
 *
 * @throws AppError `not_found`
 */
export async function revokeDeviceNode(
  change: Change,
  deviceId: string,
  options: { readonly disableAgent?: boolean } = {},
): Promise<Device> {
  const device = await getDeviceForUpdate(change.tx, deviceId)
  const disabledAt =
    options.disableAgent === true ? (device.agentDisabledAt ?? change.at) : device.agentDisabledAt
  const isDisabling = disabledAt !== null && device.agentDisabledAt === null
  if (device.nodeKeyHash === null && !isDisabling) return device
  change.recordAudit({
    action: isDisabling ? 'device.agent_disabled' : 'device.node_revoked',
    target: { type: 'device', id: device.id },
    description: isDisabling
      ? `disabled the agent of ${device.name}`
      : `revoked the node key of ${device.name}`,
  })
  if (isDisabling) change.recordEvent({ type: 'device.dismissed', deviceId: device.id })
  await notifyDeviceChanged(change.tx, device.id)
  return updateDevice(change.tx, device.id, {
    nodeKeyHash: null,
    agentDisabledAt: disabledAt,
    updatedAt: change.at,
  })
}
