import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { deleteDevice } from './delete-device.ts'
import { claimDueDeletion, findNextDeletion } from './device-deletion-store.ts'

export interface DeleteDueDevicesDependencies extends Pick<Foundation, 'db' | 'runChange'> {
  /** Told of each device that could not be deleted; it is tried again with the next call. */
  readonly logError: (error: unknown, message: string) => void
}

/**
 * Deletes every device whose time has come, each in a change of its own, and answers when the next one
 * is due. Any number of processes may call it at the same time.
 */
export async function deleteDueDevices(
  deps: DeleteDueDevicesDependencies,
): Promise<Date | undefined> {
  const failedIds: string[] = []
  for (;;) {
    let claimedId: string | undefined
    try {
      claimedId = await deps.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
        claimedId = undefined
        const device = await claimDueDeletion(change.tx, change.at, failedIds)
        if (device === undefined) return undefined
        claimedId = device.id
        await deleteDevice(change, device)
        return device.id
      })
    } catch (error) {
      // Without a claim it is the database that failed, not a device.
      if (claimedId === undefined) throw error
      failedIds.push(claimedId)
      deps.logError(error, `the device ${claimedId} could not be deleted`)
      continue
    }
    if (claimedId === undefined) break
  }
  return failedIds.length > 0 ? undefined : findNextDeletion(deps.db)
}
