/*
 * Ends grace periods and exemptions. Owns when devices are evaluated again without a report; what
 * comes of it is decided in evaluate-device-status.ts. All it knows is in `device.reevaluate_at`, so
 * that it survives restarts and shares its work with the schedulers of other processes.
 */
import type { Kysely } from 'kysely'
import type { RunChange } from '../../changes/change.ts'
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { SECOND_MS, type Clock } from '../../platform/clock.ts'
import type { Schema } from '../../schema/schema.ts'
import type { StatusDependencies } from './change-device-status.ts'
import { claimDueDevices, findNextReevaluation } from './device-status-store.ts'
import { settleDueStatuses } from './reevaluate-devices.ts'

export interface StatusSchedulerDependencies extends StatusDependencies {
  readonly db: Kysely<Schema>
  readonly runChange: RunChange
  readonly clock: Clock
  /** Told of a failure once; the devices are tried again at the next poll. */
  readonly logError: (error: unknown, message: string) => void
  /** The longest sleep, in case a wake-up is lost; default 5 seconds. */
  readonly pollMs?: number
}

export interface StatusScheduler {
  start(): void
  /** Waits for the batch under way. */
  stop(): Promise<void>
  /** Shortens the present sleep when a status can change at `at` or sooner. */
  wake(at: Date): void
  /** Changes every status that is due by now, except those that a report holds locked. */
  settleDue(): Promise<SettledDevices>
}

export interface SettledDevices {
  readonly settledCount: number
  /** Devices whose change threw; each was logged. */
  readonly failedCount: number
}

/** Devices that are evaluated in one transaction. */
const BATCH_SIZE = 50
const POLL_MS = 5 * SECOND_MS
/** How soon to look again for a device that is due but locked by a report. */
const LOCKED_RETRY_MS = 100

/** Creates a scheduler; any number of processes may run one. */
export function createStatusScheduler(deps: StatusSchedulerDependencies): StatusScheduler {
  const pollMs = deps.pollMs ?? POLL_MS
  let isRunning = false
  let loop = Promise.resolve()
  let wakeAtMs = Number.POSITIVE_INFINITY
  let shortenSleep: () => void = () => undefined

  async function run(): Promise<void> {
    while (isRunning) {
      wakeAtMs = Number.POSITIVE_INFINITY
      const sleepMs = await settleAndFindSleep(deps, pollMs)
      await sleep(sleepMs)
    }
  }

  async function sleep(sleepMs: number): Promise<void> {
    const startMs = deps.clock.now().getTime()
    await new Promise<void>((resolve) => {
      let timer = setTimeout(resolve, sleepMs)
      shortenSleep = () => {
        clearTimeout(timer)
        const restMs = isRunning ? wakeAtMs - deps.clock.now().getTime() : 0
        const sleptMs = deps.clock.now().getTime() - startMs
        timer = setTimeout(resolve, Math.max(0, Math.min(restMs, sleepMs - sleptMs)))
      }
      if (!isRunning || wakeAtMs < startMs + sleepMs) shortenSleep()
    })
    shortenSleep = () => undefined
  }

  return {
    start() {
      if (isRunning) return
      isRunning = true
      loop = run()
    },
    async stop() {
      isRunning = false
      shortenSleep()
      await loop
    },
    wake(at) {
      // Written so that an invalid time wakes nobody.
      if (!(at.getTime() < wakeAtMs)) return
      wakeAtMs = at.getTime()
      shortenSleep()
    },
    settleDue: () => settleDue(deps),
  }
}

async function settleAndFindSleep(
  deps: StatusSchedulerDependencies,
  pollMs: number,
): Promise<number> {
  try {
    const { failedCount } = await settleDue(deps)
    if (failedCount > 0) return pollMs
    const next = await findNextReevaluation(deps.db)
    if (next === undefined) return pollMs
    const untilMs = next.getTime() - deps.clock.now().getTime()
    return Math.min(untilMs > 0 ? untilMs : LOCKED_RETRY_MS, pollMs)
  } catch (error) {
    deps.logError(error, 'statuses that are due could not be changed')
    return pollMs
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
