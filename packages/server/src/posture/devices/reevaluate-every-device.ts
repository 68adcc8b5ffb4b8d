import type { Change } from '../../changes/change.ts'
import { listDeviceIds } from './device-store.ts'
import { reevaluateDevices } from './reevaluate-devices.ts'

const PAGE_SIZE = 1_000

/**
 * Derives the status of every device anew in the open change, page by page; an admin changed what
 * counts for all of them.
 */
export async function reevaluateEveryDevice(change: Change): Promise<void> {
  let afterId = '0'
  for (;;) {
    const ids = await listDeviceIds(change.tx, afterId, PAGE_SIZE)
    await reevaluateDevices(change, ids, {
      initiatingEntity: 'admin',
      occurredAt: change.at,
    })
    const last = ids.at(-1)
    if (last === undefined || ids.length < PAGE_SIZE) return
    afterId = last
  }
}
