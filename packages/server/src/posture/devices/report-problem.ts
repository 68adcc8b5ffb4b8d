/*
 * Problems of what devices report. An agent sends again what is refused, for ever, and nothing else behind
 * it: so what is too much is left out, the agent is told that all is well, and admins are told the truth.
 */
import type { Change } from '../../changes/change.ts'
import { DAY_MS } from '../../platform/clock.ts'

/** Every kind of problem. `docs/operations.md` says what to do about each. */
export type ReportProblemKind =
  | 'snapshot_cut'
  | 'line_too_long'
  | 'lines_left_out'
  | 'snapshots_as_events'
  | 'line_dropped_by_agent'
  | 'answer_too_large'

/** A problem as it was met. */
export interface ReportProblem {
  readonly kind: ReportProblemKind
  /** The reported table; empty when the problem is none of a table. */
  readonly subject: string
  /** A sentence for admins. */
  readonly detail: string
}

/** Notes problems of a device in the open change. */
export type NoteReportProblems = (
  change: Change,
  deviceId: string,
  problems: readonly ReportProblem[],
) => Promise<void>

/** How often a problem that stays is told again. */
const TOLD_EVERY_MS = DAY_MS
/** The bound is for the memory; what falls out is told once more. */
const REMEMBERED_MAX = 10_000

/** Creates the notes of one process: each problem of a device is audited once a day. */
export function createReportProblemNotes(): NoteReportProblems {
  const toldAtMs = new Map<string, number>()

  return async (change, deviceId, problems) => {
    const nowMs = change.at.getTime()
    for (const { kind, subject, detail } of problems) {
      const key = `${deviceId} ${kind} ${subject}`
      if (nowMs - (toldAtMs.get(key) ?? 0) < TOLD_EVERY_MS) continue
      change.afterCommit(() => {
        toldAtMs.delete(key)
        toldAtMs.set(key, nowMs)
        const [oldest] = toldAtMs.keys()
        if (toldAtMs.size > REMEMBERED_MAX && oldest !== undefined) toldAtMs.delete(oldest)
      })
      change.recordAudit({
        action: 'device.report_cut',
        target: { type: 'device', id: deviceId },
        description: `could not take everything that the device reports${subject === '' ? '' : ` of ${subject}`}: ${detail}`,
        after: { kind, table_name: subject === '' ? null : subject },
      })
    }
  }
}
