import type { Change } from '../../changes/change.ts'
import {
  listCounterDrift,
  lockCheckResults,
  moveCheckCounters,
  type CounterDrift,
} from './check-counter-store.ts'

/**
 * Counts all results anew and corrects every counter that differs; answers the differences, which are
 * always a bug. Reports wait while it runs: for a job at night. The proof without the correction is
 * `listCounterDrift`.
 */
export async function recountCheckCounters(change: Change): Promise<readonly CounterDrift[]> {
  await lockCheckResults(change.tx)
  const drift = await listCounterDrift(change.tx)
  await moveCheckCounters(
    change.tx,
    drift.map((row) => ({
      check_id: row.check_id,
      stripe: row.stripe,
      status: row.status,
      delta: Number(row.actual) - Number(row.counted),
    })),
  )
  if (drift.length > 0) {
    change.recordAudit({
      action: 'check_counters.corrected',
      target: null,
      description: `corrected ${drift.length} counters of check results`,
    })
  }
  return drift
}
