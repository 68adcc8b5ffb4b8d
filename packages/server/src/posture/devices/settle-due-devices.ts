/*
 * Ends grace periods and exemptions. Owns when devices are evaluated again without a report; what comes
 * of it is decided in evaluate-device-status.ts. All it knows is in `device.reevaluate_at`, so that it
 * survives restarts and any number of processes share the work.
 */
import type { Foundation } from '../../changes/foundation.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { claimDueDevices, findNextReevaluation } from './device-status-store.ts'
import { settleDueStatuses } from './settle-due-statuses.ts'

export interface DueDevicesDependencies extends Pick<Foundation, 'db' | 'runChange'> {
  /** Hears of each device that failed; it is tried again with the next run. */
  readonly logError: (error: unknown, message: string) => void
}

/** What became of the devices that were due. */
export interface SettledDevices {
  readonly settledCount: number
  /** Devices whose change threw; each was logged. */
  readonly failedCount: number
}

/** Devices that are evaluated in one transaction. */
const BATCH_SIZE = 50

/**
 * Changes every status that is due, and answers when the next one is: a due job. Undefined when none is
 * known, or when devices failed.
 */
export async function settleAndFindNext(deps: DueDevicesDependencies): Promise<Date | undefined> {
  const { failedCount } = await settleDueDevices(deps)
  return failedCount > 0 ? undefined : findNextReevaluation(deps.db)
}

/**
 * Changes every status that is due by now, except those that a report holds locked. A device that fails
 * does not hold up the others: after a failed batch each is settled alone.
 */
export async function settleDueDevices(deps: DueDevicesDependencies): Promise<SettledDevices> {
  const failedIds: string[] = []
  let settledCount = 0
  let batchSize = BATCH_SIZE
  for (;;) {
    let claimedIds: string[] = []
    const claim = { limit: batchSize, exceptIds: failedIds }
    try {
      await settleBatch(deps, claim, (ids) => (claimedIds = ids))
      settledCount += claimedIds.length
      if (claimedIds.length < batchSize) return { settledCount, failedCount: failedIds.length }
    } catch (error) {
      // Without a claim it is the database that failed, not a device.
      if (claimedIds.length === 0) throw error
      if (batchSize === 1) {
        failedIds.push(...claimedIds)
        deps.logError(error, `the status of device ${claimedIds.join()} could not be changed`)
      }
      batchSize = 1
    }
  }
}

async function settleBatch(
  deps: DueDevicesDependencies,
  claim: { readonly limit: number; readonly exceptIds: readonly string[] },
  onClaimed: (deviceIds: string[]) => void,
): Promise<void> {
  await deps.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    onClaimed([])
    const devices = await claimDueDevices(change.tx, change.at, claim.limit, claim.exceptIds)
    onClaimed(devices.map((device) => device.id))
    await settleDueStatuses(change, devices, change.at)
  })
}
