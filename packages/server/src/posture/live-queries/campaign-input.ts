import { z } from 'zod'
import { AppError } from '../../platform/app-error.ts'
import { analyseLiveQuery } from './analyse-live-query.ts'
import type { CampaignTargets } from './campaign-store.ts'
import type { CamelCased } from '../../platform/db/record-table.ts'
import { LIVE_QUERY_SQL_LENGTH_MAX } from './live-query.ts'

/** In characters. */
export const NAME_LENGTH_MAX = 200
const TARGETED_DEVICES_MAX = 1_000

const nameSchema = z
  .string()
  .trim()
  .min(1, 'Must not be empty')
  .max(NAME_LENGTH_MAX, `Must be at most ${NAME_LENGTH_MAX} characters long`)
  .refine(
    (text) => !/\p{Cc}/u.test(text) && text.isWellFormed(),
    'Must not contain control characters',
  )

const sqlSchema = z
  .string()
  .max(LIVE_QUERY_SQL_LENGTH_MAX, `Must be at most ${LIVE_QUERY_SQL_LENGTH_MAX} characters long`)
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'Must be well-formed text')
  .superRefine((text, context) => {
    const analysed = analyseLiveQuery(text)
    if (analysed.kind === 'refused') {
      context.addIssue({ code: 'custom', message: `The SQL ${analysed.message}` })
    }
  })
  .describe('One SELECT in the SQL of osquery. Answered as `osquery_sql`.')

const deviceIdSchema = z
  .union([z.int().positive(), z.string().regex(/^[1-9]\d{0,17}$/)], 'Must be the id of a device')
  .transform(String)

const targetShape = {
  targeted_device_ids: z
    .array(deviceIdSchema)
    .max(TARGETED_DEVICES_MAX, `Must be at most ${TARGETED_DEVICES_MAX} devices`)
    .transform((ids) => [...new Set(ids)].sort((a, b) => Number(BigInt(a) - BigInt(b))))
    .describe('Single devices, beside the kinds below.')
    .optional(),
  target_all_devices: z.boolean().describe('Every device that runs an agent.').optional(),
  target_macs: z.boolean().optional(),
  target_windows_devices: z.boolean().optional(),
  target_linux_devices: z.boolean().optional(),
} as const

/** The body that creates a campaign. */
export const createCampaignBody = z.strictObject({
  name: nameSchema.optional().describe('The tables that the SQL reads when left out.'),
  sql: sqlSchema,
  ...targetShape,
  published: z
    .boolean()
    .describe('`false` keeps a draft, which asks nobody. Default: true.')
    .optional(),
})

/** The body that changes a campaign; members that are left out stay as they are. */
export const updateCampaignBody = z.strictObject({
  name: nameSchema.optional(),
  sql: sqlSchema.optional(),
  ...targetShape,
  published: z
    .boolean()
    .describe('`true` asks the targets, also when they were asked before; `false` stops asking.')
    .optional(),
})

export type NewCampaign = CamelCased<z.output<typeof createCampaignBody>>
export type CampaignChanges = CamelCased<z.output<typeof updateCampaignBody>>

/** The targets that a body names, over those that were there before. */
export function mergeTargets(before: CampaignTargets, input: CampaignChanges): CampaignTargets {
  return {
    targetedDeviceIds: input.targetedDeviceIds ?? before.targetedDeviceIds,
    targetAllDevices: input.targetAllDevices ?? before.targetAllDevices,
    targetMacs: input.targetMacs ?? before.targetMacs,
    targetWindowsDevices: input.targetWindowsDevices ?? before.targetWindowsDevices,
    targetLinuxDevices: input.targetLinuxDevices ?? before.targetLinuxDevices,
  }
}

/** @throws AppError `invalid_body` when a published campaign would ask nobody by definition */
export function assertTargets(targets: CampaignTargets): void {
  const isKindNamed =
    targets.targetAllDevices ||
    targets.targetMacs ||
    targets.targetWindowsDevices ||
    targets.targetLinuxDevices
  if (isKindNamed || targets.targetedDeviceIds.length > 0) return
  throw refusal('Name devices, or at least one kind of devices')
}

/** The refusal of ids that are of no device which can answer. */
export function unaskable(ids: readonly string[]): AppError {
  const shown = ids.slice(0, 10).join(', ')
  return refusal(`There is no device with an agent under the id ${shown}`)
}

function refusal(message: string): AppError {
  return new AppError('invalid_body', `targeted_device_ids: ${message}.`, {
    details: [{ path: 'targeted_device_ids', message }],
  })
}
