/*
 * The configuration that a check is to have: its present one with what a client wants to change.
 */
import type { ConfigurationInput } from './check-configuration-input.ts'
import type { CheckConfiguration } from './check-configuration-store.ts'

/** What is to change, when and by whom. */
export interface WantedChange {
  readonly input: ConfigurationInput
  /** The groups that the input names. */
  readonly lists: Partial<CheckConfiguration['groups']>
  readonly at: Date
  readonly actorName: string
}

/** The configuration after a change, with its next revision. Writes nothing. */
export function toWantedConfiguration(
  { check, groups }: CheckConfiguration,
  { input, lists, at, actorName }: WantedChange,
): CheckConfiguration {
  return {
    check: {
      ...check,
      ...toPause(check, input.paused, { at, actorName }),
      remediation_strategy: input.remediation_strategy ?? check.remediation_strategy,
      rollout_percent: input.rollout_percent ?? check.rollout_percent,
      grace_period_days: input.block_auth_grace_period_days ?? check.grace_period_days,
      begins_blocking_on: toTime(input.begins_blocking_on, check.begins_blocking_on),
      shelf_life_seconds: input.auth_check_run_shelf_life_seconds ?? check.shelf_life_seconds,
      snooze_disallowed: input.snooze_disallowed ?? check.snooze_disallowed,
      exemptions_disallowed: input.exemptions_disallowed ?? check.exemptions_disallowed,
      options: input.options ?? check.options,
      configuration_revision: check.configuration_revision + 1,
      updated_at: at,
    },
    groups: { ...groups, ...lists },
  }
}

/** A check that is paused already stays paused by whom it was. */
function toPause(
  check: CheckConfiguration['check'],
  isPaused: boolean | undefined,
  { at, actorName }: Pick<WantedChange, 'at' | 'actorName'>,
) {
  if (isPaused === undefined || isPaused === (check.paused_at !== null)) return {}
  if (!isPaused) return { paused_at: null, paused_by: null }
  return { paused_at: at, paused_by: actorName }
}

function toTime(text: string | null | undefined, present: Date | null): Date | null {
  if (text === undefined) return present
  return text === null ? null : new Date(text)
}
