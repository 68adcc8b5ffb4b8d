import { z } from 'zod'
import { toWire } from '../../../platform/wire/to-wire.ts'
import { timestampSchema, toLink } from '../../../platform/wire/wire-values.ts'
import { deviceLinkSchema } from '../../devices/device-json.ts'
import {
  REENROLLMENT_REASONS,
  REENROLLMENT_STATUSES,
  type ReenrollmentRequest,
} from './reenrollment-request-read.ts'

/** A machine that asks to enroll as a known device, on the wire. */
export const reenrollmentRequestSchema = z
  .object({
    id: z.string(),
    status: z
      .enum(REENROLLMENT_STATUSES)
      .describe('`completed` once the machine was let in by an approval.'),
    reason: z
      .enum(REENROLLMENT_REASONS)
      .describe(
        'Why it waits: the node key of the device is in use (`live_node_key`), another device with its hardware is (`known_hardware`), or its enrollment secret belongs to somebody else than the device (`other_owner`).',
      ),
    device_information: deviceLinkSchema.describe('The device whose place or hardware it claims.'),
    host_identifier: z.string().describe('What the machine goes by.'),
    host_name: z.string(),
    serial: z.string().nullable(),
    hardware_uuid: z.string().nullable(),
    ip_address: z.string().nullable().describe('Where it asks from.'),
    known_ip_address: z
      .string()
      .nullable()
      .describe('Where the device was last heard of before that.'),
    enrollment_secret_id: z.string(),
    attempts_count: z.int(),
    requested_at: timestampSchema,
    last_requested_at: timestampSchema,
    decided_at: timestampSchema.nullable(),
    decided_by: z.string().nullable(),
    approved_until: timestampSchema
      .nullable()
      .describe('Until when an approval lets the machine in, once.'),
  })
  .meta({ id: 'ReenrollmentRequest' })

/** The wire form of a machine that asks to enroll as a known device. */
export function toReenrollmentRequestJson(baseUrl: string, request: ReenrollmentRequest) {
  return toWire(reenrollmentRequestSchema, request, {
    device_information: toLink(baseUrl, 'devices', request.deviceId),
    attempts_count: Number(request.attemptsCount),
  })
}
