import type { StatusDependencies } from '../../posture/devices/change-device-status.ts'
import type { Services } from '../services.ts'
import { createEnqueueSets } from '../../signals/sets/enqueue-sets.ts'

/** What happens, in the same transaction, when the status of a device changes. */
export function composeStatus({ sealer }: Pick<Services, 'sealer'>): StatusDependencies {
  return { onDeviceStatusChanged: createEnqueueSets({ sealer }) }
}
