import { z } from 'zod'
import { toWire } from '../../../platform/wire/to-wire.ts'
import { deviceLinkSchema } from '../../devices/device-json.ts'
import { collectionOfPerson, personLinkSchema } from '../../../people/people/person-json.ts'
import { issueLinkSchema } from '../issue-json.ts'
import { timestampSchema, toLink } from '../../../platform/wire/wire-values.ts'
import {
  EXEMPTION_REQUEST_STATUSES,
  type ExemptionRequestRecord,
} from './exemption-request-read.ts'

/** A request for an exemption on the wire. */
export const exemptionRequestSchema = z
  .object({
    id: z.string(),
    status: z.enum(EXEMPTION_REQUEST_STATUSES),
    internal_explanation: z
      .string()
      .nullable()
      .describe('Why it was decided so, for admins; written as `internal_message`.'),
    denial_explanation: z.string().nullable().describe('Why it was denied, for the requester.'),
    requested_at: timestampSchema,
    requester_message: z.string(),
    requester_information: personLinkSchema,
    device_information: deviceLinkSchema,
    issues: z.array(issueLinkSchema),
    covers_future_issues: z
      .boolean()
      .describe('Whether an approval covers later issues of the same checks on the device too.'),
    expires_at: timestampSchema.nullable().describe('When the exemption ends; null for never.'),
    decided_at: timestampSchema.nullable(),
    decided_by: z.string().nullable(),
  })
  .meta({ id: 'ExemptionRequest' })

/** The wire form of a request for an exemption. */
export function toExemptionRequestJson(baseUrl: string, request: ExemptionRequestRecord) {
  return toWire(exemptionRequestSchema, request, {
    requester_information: toLink(
      baseUrl,
      collectionOfPerson(request.isRequesterDeprovisioned),
      request.requesterPersonId,
    ),
    device_information: toLink(baseUrl, 'devices', request.deviceId),
    issues: request.issueIds.map((id) => toLink(baseUrl, 'issues', id)),
  })
}
