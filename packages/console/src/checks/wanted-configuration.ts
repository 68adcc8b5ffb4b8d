import type { CheckConfiguration } from '../api/generated/types.gen.ts'

/** What the form changes of a configuration. */
export type Wanted = Pick<
  CheckConfiguration,
  | 'remediation_strategy'
  | 'rollout_percent'
  | 'block_auth_grace_period_days'
  | 'begins_blocking_on'
  | 'paused'
  | 'snooze_disallowed'
  | 'exemptions_disallowed'
  | 'targeted_groups'
  | 'excluded_groups'
  | 'blocking_allowed_groups'
  | 'blocking_excluded_groups'
>

export function toWanted(saved: CheckConfiguration): Wanted {
  return {
    remediation_strategy: saved.remediation_strategy,
    rollout_percent: saved.rollout_percent,
    block_auth_grace_period_days: saved.block_auth_grace_period_days,
    begins_blocking_on: saved.begins_blocking_on,
    paused: saved.paused,
    snooze_disallowed: saved.snooze_disallowed,
    exemptions_disallowed: saved.exemptions_disallowed,
    targeted_groups: saved.targeted_groups,
    excluded_groups: saved.excluded_groups,
    blocking_allowed_groups: saved.blocking_allowed_groups,
    blocking_excluded_groups: saved.blocking_excluded_groups,
  }
}

/** The members that differ from what is saved. */
export function toChanges(saved: Wanted, wanted: Wanted): Partial<Wanted> {
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) => JSON.stringify(saved[name as keyof Wanted]) !== JSON.stringify(value),
    ),
  )
}
