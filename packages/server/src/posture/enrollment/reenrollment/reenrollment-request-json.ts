import { z } from 'zod'
import { timestampSchema, toLink, toTimestamp } from '../../../platform/wire/wire-values.ts'
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
export function toReenrollmentRequestJson(
  baseUrl: string,
  request: ReenrollmentRequest,
): z.input<typeof reenrollmentRequestSchema> {
  return {
    id: request.id,
    status: request.status,
    reason: request.reason,
    device_information: toLink(baseUrl, 'devices', request.device_id),
    host_identifier: request.host_identifier,
    host_name: request.host_name,
    serial: request.serial,
    hardware_uuid: request.hardware_uuid,
    ip_address: request.ip_address,
    known_ip_address: request.known_ip_address,
    enrollment_secret_id: request.enrollment_secret_id,
    attempts_count: Number(request.attempts_count),
    requested_at: toTimestamp(request.requested_at),
    last_requested_at: toTimestamp(request.last_requested_at),
    decided_at: toTimestamp(request.decided_at),
    decided_by: request.decided_by,
    approved_until: toTimestamp(request.approved_until),
  }
}
