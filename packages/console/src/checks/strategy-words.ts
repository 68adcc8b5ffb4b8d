import type { FieldWords } from '../kit/meanwhile.tsx'
import { useGroupChoices } from './groups-input.tsx'
import { texts } from './texts.ts'
import type { Wanted } from './wanted-configuration.ts'

/** How the fields of a strategy are told where another admin has changed them. */
export function useStrategyWords(): FieldWords<Wanted> {
  const { choices } = useGroupChoices()
  const tellGroups = (groups: readonly string[]) =>
    groups.length === 0
      ? texts.noGroups
      : groups
          .map((group) => choices.find(({ value }) => value === group)?.label ?? group)
          .join(', ')
  return {
    remediation_strategy: { label: texts.strategy, tell: (name) => texts.strategies[name] },
    rollout_percent: { label: texts.rolloutLabel, tell: (share) => texts.percent(share) },
    block_auth_grace_period_days: { label: texts.grace },
    begins_blocking_on: {
      label: texts.begins,
      tell: (at) => (at === null ? texts.never : new Date(at).toLocaleDateString()),
    },
    paused: { label: texts.pausedLabel },
    snooze_disallowed: { label: texts.snooze, tell: tellAllowed },
    exemptions_disallowed: { label: texts.exemptions, tell: tellAllowed },
    targeted_groups: { label: texts.targeted, tell: tellGroups },
    excluded_groups: { label: texts.excluded, tell: tellGroups },
    blocking_allowed_groups: { label: texts.allowed, tell: tellGroups },
    blocking_excluded_groups: { label: texts.spared, tell: tellGroups },
  }
}

/** The form asks for what is allowed, the API for what is not. */
function tellAllowed(isDisallowed: boolean): string {
  return isDisallowed ? texts.no : texts.yes
}
