import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { loadRecords } from '../../schema/operations.ts'
import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import { checkLinkSchema, checkResource } from '../checks/check-json.ts'
import { deviceLinkSchema, deviceResource } from '../devices/device-json.ts'
import { linkTo } from '../../platform/http/expand.ts'
import { timestampSchema, toLink } from '../../platform/wire/wire-values.ts'
import { ISSUE_LIST, type IssueRecord } from './issue-read.ts'

/** An issue on the wire. */
export const issueSchema = z
  .object({
    id: z.string(),
    title: z.string(),
    issue_key: z
      .string()
      .optional()
      .describe('Only for checks that can open several issues on one device.'),
    issue_value: z.string().optional(),
    value: z
      .record(z.string(), z.string())
      .describe('The data that made the check fail, as text; contains `KOLIDE_CHECK_STATUS`.'),
    exempted: z.boolean(),
    detected_at: timestampSchema,
    last_rechecked_at: timestampSchema,
    resolved_at: timestampSchema.nullable().describe('Null while the issue is open.'),
    blocks_device_at: timestampSchema
      .nullable()
      .describe('Null when the check does not block the device.'),
    snoozed_until: timestampSchema
      .nullable()
      .describe(
        'Until when the person of the device has put it off: sign-ins go on without showing it. It blocks all the same. May be over; null where it is not put off.',
      ),
    device_information: deviceLinkSchema,
    check_information: checkLinkSchema,
  })
  .meta({ id: 'Issue' })

/** A link to an issue. */
export const issueLinkSchema = linkTo(issueSchema, 'IssueLink')

/** The wire form of an issue. */
export function toIssueJson(baseUrl: string, issue: IssueRecord) {
  return toWire(issueSchema, issue, {
    exempted: issue.exemptedAt !== null,
    device_information: toLink(baseUrl, 'devices', issue.deviceId),
    check_information: toLink(baseUrl, 'checks', issue.checkId),
  })
}

/** Issues as the API lists and shows them. */
export function issueResource(db: Kysely<Schema>, baseUrl: string) {
  return {
    db,
    list: ISSUE_LIST,
    item: issueSchema,
    toJson: (issue: IssueRecord) => toIssueJson(baseUrl, issue),
    expand: {
      device: { member: 'device_information', load: loadRecords(deviceResource(db, baseUrl)) },
      check: { member: 'check_information', load: loadRecords(checkResource(db)) },
    },
  }
}
