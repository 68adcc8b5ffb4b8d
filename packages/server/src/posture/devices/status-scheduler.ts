/*
 * Ends grace periods and exemptions. Owns when devices are evaluated again without a report; what
 * comes of it is decided in evaluate-device-status.ts. All it knows is in `device.reevaluate_at`, so
 * that it survives restarts and shares its work with the schedulers of other processes.
 */
import type { Kysely } from 'kysely'
import type { RunChange } from '../../changes/change.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import type { Schema } from '../../schema/schema.ts'
import type { StatusDependencies } from './change-device-status.ts'
import { claimDueDevices, findNextReevaluation } from './device-status-store.ts'
import { settleDueStatuses } from './reevaluate-devices.ts'

export interface StatusSchedulerDependencies extends StatusDependencies {
  readonly db: Kysely<Schema>
  readonly runChange: RunChange
  /** Told of each device whose change threw; it is tried again at the next run. */
  readonly logError: (error: unknown, message: string) => void
}

export interface StatusScheduler {
  /** Changes every status that is due by now, except those that a report holds locked. */
  settleDue(): Promise<SettledDevices>
  /** Does so and answers when the next is due; undefined when none is, or when a device failed. */
  run(): Promise<Date | undefined>
}

export interface SettledDevices {
  readonly settledCount: number
  /** Devices whose change threw; each was logged. */
  readonly failedCount: number
}

/** Devices that are evaluated in one transaction. */
const BATCH_SIZE = 50

/** Creates a scheduler; any number of processes may run one. */
export function createStatusScheduler(deps: StatusSchedulerDependencies): StatusScheduler {
  return {
    settleDue: () => settleDue(deps),
    run: async () => {
      const { failedCount } = await settleDue(deps)
      return failedCount > 0 ? undefined : findNextReevaluation(deps.db)
    },
  }
}

/** A device that fails must not hold up the others: after a failed batch each is settled alone. */
async function settleDue(deps: StatusSchedulerDependencies): Promise<SettledDevices> {
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
  deps: StatusSchedulerDependencies,
  claim: { readonly limit: number; readonly exceptIds: readonly string[] },
  onClaimed: (deviceIds: string[]) => void,
): Promise<void> {
  await deps.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    onClaimed([])
    const devices = await claimDueDevices(change.tx, change.at, claim.limit, claim.exceptIds)
    onClaimed(devices.map((device) => device.id))
    await settleDueStatuses(change, deps, devices, change.at)
  })
}
