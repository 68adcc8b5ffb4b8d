import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import type { JsonObject } from '../../changes/audit/audit-entry.ts'
import { linkSchema, timestampSchema, toLink } from '../../platform/wire/wire-values.ts'
import { CHECK_PLATFORMS, type CheckPlatform } from '../checks/check-definition.ts'
import { queryWarningsSchema, toQueryWarnings } from '../osquery/tables/query-warnings-json.ts'
import type { CampaignRecord } from './campaign-read.ts'
import type { Campaign } from './campaign-store.ts'
import type { LiveResultRecord, LiveTargetRecord } from './live-result-read.ts'

export const campaignSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    osquery_sql: z.string().describe('The SQL that devices run. Sent as `sql`.'),
    created_at: timestampSchema,
    asked_at: timestampSchema.nullable().describe('When its devices were last asked.'),
    published: z.boolean().describe('Whether devices are asked.'),
    revision: z
      .int()
      .describe('Raised by every change of the SQL or the targets, and when asked anew.'),
    tables_used: z.array(z.string()).describe('The osquery tables that the SQL names.'),
    warnings: queryWarningsSchema,
    successful_devices_count: z.int(),
    errored_devices_count: z.int(),
    waiting_devices_count: z.int().describe('Targeted devices that have not answered yet.'),
    targeted_device_ids: z.array(z.int()),
    target_all_devices: z.boolean(),
    target_macs: z.boolean(),
    target_windows_devices: z.boolean(),
    target_linux_devices: z.boolean(),
  })
  .meta({ id: 'LiveQueryCampaign' })

/** A campaign as the API shows it. */
export function toCampaignJson(campaign: CampaignRecord) {
  return toWire(campaignSchema, campaign, {
    osquery_sql: campaign.sql,
    warnings: toQueryWarnings(campaign.sql, listPlatforms(campaign)),
    successful_devices_count: Number(campaign.successfulCount),
    errored_devices_count: Number(campaign.erroredCount),
    waiting_devices_count: Number(campaign.waitingCount),
    targeted_device_ids: campaign.targetedDeviceIds.map(Number),
  })
}

/** The platforms of the devices that are asked; those of single devices are not looked up. */
function listPlatforms(campaign: CampaignRecord): readonly CheckPlatform[] {
  if (campaign.targetAllDevices || campaign.targetedDeviceIds.length > 0) return CHECK_PLATFORMS
  const asked = {
    darwin: campaign.targetMacs,
    windows: campaign.targetWindowsDevices,
    linux: campaign.targetLinuxDevices,
  }
  return CHECK_PLATFORMS.filter((platform) => asked[platform])
}

/** What the audit log keeps of a campaign. */
export function toCampaignAudit(campaign: Campaign): JsonObject {
  return {
    name: campaign.name,
    sql: campaign.sql,
    published: campaign.published,
    revision: campaign.revision,
    targeted_device_ids: campaign.targetedDeviceIds,
    target_all_devices: campaign.targetAllDevices,
    target_macs: campaign.targetMacs,
    target_windows_devices: campaign.targetWindowsDevices,
    target_linux_devices: campaign.targetLinuxDevices,
  }
}

export const liveResultSchema = z
  .object({
    id: z.string(),
    result_count: z.string().describe('How many rows are in `results`; a text.'),
    error_message: z
      .string()
      .nullable()
      .describe('What the agent said when it failed or refused to run the SQL.'),
    warning_message: z.string().nullable().describe('Set when the device had more rows.'),
    revision: z.int(),
    device_name: z.string(),
    device_information: linkSchema,
    results: z.array(z.record(z.string(), z.string())),
    answered_at: timestampSchema,
  })
  .meta({ id: 'LiveQueryResult' })

/** The answer of a device as the API shows it. */
export function toLiveResultJson(baseUrl: string, result: LiveResultRecord) {
  return toWire(liveResultSchema, result, {
    result_count: String(result.rowCount),
    device_information: toLink(baseUrl, 'devices', result.deviceId),
    results: result.rows,
  })
}

export const LIVE_TARGET_STATES = ['waiting', 'successful', 'errored'] as const

export const LIVE_TARGET_PROGRESS = [
  'queued',
  'sent',
  'offline',
  'answered',
  'failed',
  'denylisted',
] as const

export const liveTargetSchema = z
  .object({
    id: z.string().describe('The id of the device.'),
    state: z.enum(LIVE_TARGET_STATES),
    progress: z
      .enum(LIVE_TARGET_PROGRESS)
      .describe(
        'How far the question has come: `queued` until the device is in contact, `sent` from then on, `offline` when it has been silent for ten minutes, `denylisted` when its agent refuses the SQL after it has used too much of the device.',
      ),
    error_message: z.string().nullable().describe('What the agent said when it failed or refused.'),
    revision: z.int(),
    device_name: z.string(),
    device_information: linkSchema,
    last_seen_at: timestampSchema.describe('When the agent was last in contact with the service.'),
  })
  .meta({ id: 'LiveQueryDevice' })

/** A targeted device as the API shows it. */
export function toLiveTargetJson(baseUrl: string, target: LiveTargetRecord) {
  return toWire(liveTargetSchema, target, {
    id: target.deviceId,
    device_information: toLink(baseUrl, 'devices', target.deviceId),
  })
}
