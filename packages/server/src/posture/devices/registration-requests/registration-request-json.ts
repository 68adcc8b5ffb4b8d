import { z } from 'zod'
import { toWire } from '../../../platform/wire/to-wire.ts'
import { collectionOfPerson, personLinkSchema } from '../../../people/people/person-json.ts'
import { deviceLinkSchema } from '../device-json.ts'
import { timestampSchema, toLink } from '../../../platform/wire/wire-values.ts'
import {
  REGISTRATION_REQUEST_STATUSES,
  type ListedRegistrationRequest,
} from './registration-request-read.ts'

/** A request for a registration on the wire. */
export const registrationRequestSchema = z
  .object({
    id: z.string(),
    status: z.enum(REGISTRATION_REQUEST_STATUSES),
    requester_message: z.string(),
    internal_denial_note: z
      .string()
      .nullable()
      .describe('Why it was denied, for admins; written as `internal_message`.'),
    internal_approval_note: z
      .string()
      .nullable()
      .describe('Why it was approved, for admins; written as `internal_message`.'),
    requested_at: timestampSchema,
    end_user_denial_note: z
      .string()
      .nullable()
      .describe('Why it was denied, for the requester; written as `end_user_denial_message`.'),
    requester_information: personLinkSchema,
    device_information: deviceLinkSchema,
    decided_at: timestampSchema.nullable(),
    decided_by: z.string().nullable(),
  })
  .meta({ id: 'RegistrationRequest' })

/** The wire form of a request for a registration. */
export function toRegistrationRequestJson(baseUrl: string, request: ListedRegistrationRequest) {
  return toWire(registrationRequestSchema, request, {
    requester_information: toLink(
      baseUrl,
      collectionOfPerson(request.isRequesterDeprovisioned),
      request.requesterPersonId,
    ),
    device_information: toLink(baseUrl, 'devices', request.deviceId),
  })
}
