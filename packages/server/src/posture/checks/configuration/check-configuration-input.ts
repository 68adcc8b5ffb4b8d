/*
 * The body that configures a check. Owns what a client may write; whether the groups that it names
 * exist, and what follows from it, is for the use case.
 */
import { z } from 'zod'
import { jsonObjectInput } from '../../../platform/wire/body-values.ts'
import { REMEDIATION_STRATEGIES } from '../check-definition.ts'

const GRACE_PERIOD_DAYS_MAX = 365
const SHELF_LIFE_SECONDS_MAX = 30 * 24 * 60 * 60
const GROUPS_MAX = 200
const GROUP_LENGTH_MAX = 50
const OPTIONS_LENGTH_MAX = 16 * 1024

const groupsSchema = z
  .array(
    z
      .union([z.string().max(GROUP_LENGTH_MAX), z.int()], {
        error: 'Must be the id of a device group, or one of macos, windows, linux',
      })
      .transform(String),
  )
  .max(GROUPS_MAX, `Must name at most ${GROUPS_MAX} groups`)

/** What a client may change of the configuration of a check; members that are left out stay. */
export const configureCheckBody = z.strictObject({
  paused: z.boolean().optional(),
  rollout_percent: z
    .int()
    .min(0)
    .max(100)
    .optional()
    .describe(
      'The share of the devices that the strategy holds for; on the others the check runs and only reports. Raising it adds devices and takes none away. Checks of people take no account of it.',
    ),
  remediation_strategy: z.enum(REMEDIATION_STRATEGIES).optional(),
  block_auth_grace_period_days: z.int().min(0).max(GRACE_PERIOD_DAYS_MAX).optional(),
  begins_blocking_on: z.iso
    .datetime({ offset: true, error: 'Must be an ISO 8601 time with a zone, or null' })
    .nullable()
    .optional()
    .describe('No issue blocks a device before this time; null removes it.'),
  auth_check_run_shelf_life_seconds: z
    .int()
    .min(0)
    .max(SHELF_LIFE_SECONDS_MAX)
    .optional()
    .describe('A result older than this is run again during a sign-in.'),
  snooze_disallowed: z.boolean().optional(),
  exemptions_disallowed: z.boolean().optional(),
  targeted_groups: groupsSchema
    .optional()
    .describe('Only devices in one of these groups run the check; all do when it is empty.'),
  excluded_groups: groupsSchema.optional().describe('Devices in one of these do not run it.'),
  blocking_allowed_groups: groupsSchema
    .optional()
    .describe('Only devices in one of these are blocked; all are when it is empty.'),
  blocking_excluded_groups: groupsSchema
    .optional()
    .describe('Devices in one of these are notified instead of blocked.'),
  options: jsonObjectInput(OPTIONS_LENGTH_MAX)
    .optional()
    .describe('Replaces the whole object. A text that holds a JSON object, or the object.'),
})

/** The change of a configuration that a client asks for. */
export type ConfigurationInput = z.output<typeof configureCheckBody>
