import type { Foundation, ServicePart } from '../../changes/foundation.ts'
import { systemClock } from '../../platform/clock.ts'
import type { RetentionPolicy } from '../../platform/retention/retention-policy.ts'
import { periodicJob } from '../../schema/jobs.ts'
import { readEndedCounts, readPassSeconds } from './retention-read.ts'
import { RUN_MS_MAX, sweepRetention } from './sweep-retention.ts'

/** Deletes what has been kept for long enough, by the policies of all parts. */
export function createRetentionPart(
  { clock, db }: Pick<Foundation, 'clock' | 'db'>,
  policies: readonly RetentionPolicy[],
): ServicePart {
  const stopping = new AbortController()
  const { signal } = stopping
  return {
    name: 'retention',
    roles: ['worker'],
    metrics: [
      {
        name: 'heliograph_retention_ended_total',
        help: 'Rows that retention has deleted or emptied, in the whole installation',
        kind: 'counter',
        label: 'policy',
        read: () => readEndedCounts(db),
      },
      {
        name: 'heliograph_retention_pass_seconds',
        help: 'For how long the present pass of retention has been under way; 0 when none is',
        label: 'policy',
        read: () => readPassSeconds(db),
      },
    ],
    jobs: [
      periodicJob('retention', () =>
        sweepRetention(
          policies,
          { clock, db, machineClock: systemClock },
          { runMsMax: RUN_MS_MAX, signal },
        ),
      ),
    ],
    endWaiting: () => stopping.abort(),
  }
}
