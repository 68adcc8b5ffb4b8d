import { z } from 'zod'
import { toWire } from '../../../platform/wire/to-wire.ts'
import type { JsonObject } from '../../../changes/audit/audit-entry.ts'
import { timestampSchema, toTimestamp } from '../../../platform/wire/wire-values.ts'
import { REMEDIATION_STRATEGIES } from '../check-definition.ts'
import type { CheckConfiguration, GroupReference } from './check-configuration-store.ts'

/** There is one organisation, and this is its number. */
const ORGANISATION_ID = 1

/** The configuration of a check on the wire; here, and nowhere else, ids are numbers. */
export const checkConfigurationSchema = z
  .object({
    id: z.int(),
    organization_id: z.int(),
    check_id: z.int(),
    name: z.string(),
    check_slug: z.string(),
    issue_title: z.string(),
    options: z.string().describe('A JSON object as text.'),
    use_custom_rationale_template: z.boolean(),
    use_custom_fix_instructions_template: z.boolean(),
    paused: z.boolean(),
    paused_by: z.string().nullable(),
    paused_at: timestampSchema.nullable(),
    revision: z.string().describe('Raised with every change of the configuration.'),
    block_auth_grace_period_days: z.int(),
    auth_check_run_shelf_life_seconds: z.int(),
    begins_blocking_on: timestampSchema.nullable(),
    snooze_disallowed: z.boolean(),
    exemptions_disallowed: z.boolean(),
    customized_remediation_targeting: z.boolean(),
    customized_run_targeting: z.boolean(),
    remediation_strategy: z.enum(REMEDIATION_STRATEGIES),
    rollout_percent: z
      .int()
      .describe(
        'The share of the devices that the strategy holds for; the check only reports on the others.',
      ),
    targeted_groups: z
      .array(z.string())
      .describe('Ids of device groups and the platforms `macos`, `windows`, `linux`.'),
    excluded_groups: z.array(z.string()),
    blocking_allowed_groups: z.array(z.string()),
    blocking_excluded_groups: z.array(z.string()),
  })
  .meta({ id: 'CheckConfiguration' })

/** The words that configurations use for platforms; `darwin` is `macos` here. */
export const GROUP_PLATFORMS = { macos: 'darwin', windows: 'windows', linux: 'linux' } as const

/** The wire form of a configuration. */
export function toCheckConfigurationJson(configuration: CheckConfiguration) {
  const { check } = configuration
  const { options, ...settings } = toSettings(configuration)
  return toWire(checkConfigurationSchema, check, {
    ...settings,
    id: Number(check.id),
    organization_id: ORGANISATION_ID,
    check_id: Number(check.id),
    check_slug: check.slug,
    options: JSON.stringify(options),
    use_custom_rationale_template: check.customRationaleTemplate !== null,
    use_custom_fix_instructions_template: check.customFixInstructionsTemplate !== null,
    revision: String(check.configurationRevision),
    customized_remediation_targeting:
      settings.blocking_allowed_groups.length + settings.blocking_excluded_groups.length > 0,
    customized_run_targeting: settings.targeted_groups.length + settings.excluded_groups.length > 0,
  })
}

/** What of a configuration can be changed, by the names of the wire. */
export function toSettings({ check, groups }: CheckConfiguration) {
  return {
    paused: check.pausedAt !== null,
    remediation_strategy: check.remediationStrategy,
    rollout_percent: check.rolloutPercent,
    block_auth_grace_period_days: check.gracePeriodDays,
    begins_blocking_on: toTimestamp(check.beginsBlockingOn),
    auth_check_run_shelf_life_seconds: check.shelfLifeSeconds,
    snooze_disallowed: check.snoozeDisallowed,
    exemptions_disallowed: check.exemptionsDisallowed,
    targeted_groups: groups.targeted.map(toGroupText),
    excluded_groups: groups.excluded.map(toGroupText),
    blocking_allowed_groups: groups.blocking_allowed.map(toGroupText),
    blocking_excluded_groups: groups.blocking_excluded.map(toGroupText),
    options: check.options as JsonObject,
  }
}

/** How configurations name a group. */
export function toGroupText(group: GroupReference): string {
  if (group.kind === 'group') return group.id
  return group.platform === 'darwin' ? 'macos' : group.platform
}
