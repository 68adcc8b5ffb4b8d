import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { CHECK_LIST } from './check-read.ts'
import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import { linkTo } from '../../platform/http/expand.ts'
import { CHECK_PLATFORMS } from './check-definition.ts'
import type { CheckRecord, GroupRuleRecord } from './check-read.ts'

const tagSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    color: z.string().describe('As `rgba(...)`.'),
  })
  .meta({ id: 'CheckTag' })

/** A check on the wire. */
export const checkSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    slug: z.string(),
    description: z.string(),
    issue_title: z.string(),
    compatible_platforms: z.array(z.enum(['linux', 'windows', 'darwin'])),
    topics: z.array(z.string()),
    check_tags: z.array(tagSchema),
    osquery_sql_template: z.string().optional().describe('Only for custom checks.'),
    fix_instructions_template: z.string().describe('Markdown with Liquid.'),
    rationale_template: z.string().describe('Markdown with Liquid.'),
    remediation_strategy: z
      .enum(['block_immediately', 'warn_then_block', 'notify_only', 'report_only'])
      .describe('What it does to devices that fail it.'),
    paused: z.boolean(),
    blocks_auth_configuration: z.object({
      blocking_enabled: z.boolean(),
      grace_period_days: z.int(),
      blocking_group_names: z.array(z.string()),
      blocking_exempt_group_names: z.array(z.string()),
    }),
    targeting_configuration: z.object({
      targeted_groups: z.array(z.string()),
      excluded_groups: z.array(z.string()),
    }),
    percent_passing: z
      .int()
      .min(0)
      .max(100)
      .describe(
        'The share of targeted devices that pass, truncated: 100 means all. Devices that the check does not apply to are left out.',
      ),
    kolide_provided: z.boolean().describe('Whether the check comes with the service.'),
    type: z.enum(['osquery', 'custom', 'external']),
  })
  .meta({ id: 'Check' })

/** A link to a check. */
export const checkLinkSchema = linkTo(checkSchema, 'CheckLink')

/** The wire form of a check. */
export function toCheckJson(check: CheckRecord) {
  const blocks =
    check.remediationStrategy === 'block_immediately' ||
    check.remediationStrategy === 'warn_then_block'
  const names = (rule: GroupRuleRecord['rule']) =>
    check.groupRules.filter((entry) => entry.rule === rule).map((entry) => entry.name)
  return toWire(checkSchema, check, {
    compatible_platforms: CHECK_PLATFORMS.filter((platform) => check.platforms.includes(platform)),
    check_tags: check.tags,
    paused: check.pausedAt !== null,
    osquery_sql_template: check.type === 'custom' ? firstQuery(check) : undefined,
    fix_instructions_template: check.customFixInstructionsTemplate ?? check.fixInstructionsTemplate,
    rationale_template: check.customRationaleTemplate ?? check.rationaleTemplate,
    blocks_auth_configuration: {
      blocking_enabled: blocks,
      grace_period_days: check.gracePeriodDays,
      blocking_group_names: names('blocking_allowed'),
      blocking_exempt_group_names: names('blocking_excluded'),
    },
    targeting_configuration: {
      targeted_groups: names('targeted'),
      excluded_groups: names('excluded'),
    },
    percent_passing: toPercent(Number(check.passingCount), Number(check.targetedCount)),
    kolide_provided: check.isBuiltIn,
  })
}

/** Truncated, so that 100 means every targeted device; 0 while no device is targeted. */
export function toPercent(passing: number, targeted: number): number {
  return targeted === 0 ? 0 : Math.floor((passing * 100) / targeted)
}

/** A custom check has the same query on each of its platforms. */
function firstQuery(check: CheckRecord): string {
  return Object.values(check.queries)[0] ?? ''
}

/** Checks as the API lists and shows them. */
export function checkResource(db: Kysely<Schema>) {
  return { db, list: CHECK_LIST, item: checkSchema, toJson: toCheckJson }
}
