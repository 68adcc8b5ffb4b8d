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
      remediationStrategy: input.remediation_strategy ?? check.remediationStrategy,
      rolloutPercent: input.rollout_percent ?? check.rolloutPercent,
      gracePeriodDays: input.block_auth_grace_period_days ?? check.gracePeriodDays,
      beginsBlockingOn: toTime(input.begins_blocking_on, check.beginsBlockingOn),
      shelfLifeSeconds: input.auth_check_run_shelf_life_seconds ?? check.shelfLifeSeconds,
      snoozeDisallowed: input.snooze_disallowed ?? check.snoozeDisallowed,
      exemptionsDisallowed: input.exemptions_disallowed ?? check.exemptionsDisallowed,
      options: input.options ?? check.options,
      configurationRevision: check.configurationRevision + 1,
      updatedAt: at,
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
  if (isPaused === undefined || isPaused === (check.pausedAt !== null)) return {}
  if (!isPaused) return { pausedAt: null, pausedBy: null }
  return { pausedAt: at, pausedBy: actorName }
}

function toTime(text: string | null | undefined, present: Date | null): Date | null {
  if (text === undefined) return present
  return text === null ? null : new Date(text)
}
