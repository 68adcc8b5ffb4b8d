import { DAY_MS } from '../../../../platform/clock.ts'
import type { AuthState } from '../../../../schema/status-values.ts'

/** How far devices are on the way from no notice to being blocked. */
export const IMPACT_STAGES = [
  'no_notice',
  'notified',
  'blocks_later',
  'blocks_within_seven_days',
  'blocks_within_a_day',
  'blocked',
] as const

export type ImpactStage = (typeof IMPACT_STAGES)[number]

const SOON_MS = DAY_MS
const LATER_MS = 7 * DAY_MS

/** The ends of the times that tell stages apart. */
export function toStageTimes(now: Date): readonly [Date, Date] {
  return [new Date(now.getTime() + SOON_MS), new Date(now.getTime() + LATER_MS)]
}

/** The stage of a device at a time. */
export function toImpactStage(
  { authState, willBlockAt }: { readonly authState: AuthState; readonly willBlockAt: Date | null },
  now: Date,
): ImpactStage {
  switch (authState) {
    case 'Good':
      return 'no_notice'
    case 'Notified':
      return 'notified'
    case 'Blocked':
      return 'blocked'
    case 'Will Block': {
      const [soon, later] = toStageTimes(now)
      if (willBlockAt === null || willBlockAt > later) return 'blocks_later'
      return willBlockAt <= soon ? 'blocks_within_a_day' : 'blocks_within_seven_days'
    }
  }
}
