import type { StatusDependencies } from '../devices/change-device-status.ts'
import { createEnqueueSets } from '../ssf/enqueue-sets.ts'

/** What happens, in the same transaction, when the status of a device changes. */
export function composeStatus(): StatusDependencies {
  return { onDeviceStatusChanged: createEnqueueSets() }
}
