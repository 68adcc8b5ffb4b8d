import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import { timestampSchema } from '../../platform/wire/wire-values.ts'
import type { DeviceGroupMember } from './change-memberships.ts'
import type { DeviceGroup } from './device-group-read.ts'

/** A device group on the wire. */
export const deviceGroupSchema = z
  .object({
    id: z.string(),
    created_at: timestampSchema,
    name: z.string(),
    description: z.string(),
    members_count: z.int(),
  })
  .meta({ id: 'DeviceGroup' })

/** A membership on the wire. */
export const deviceGroupMemberSchema = z
  .object({ device_id: z.string(), group_id: z.string() })
  .meta({ id: 'DeviceGroupMember' })

/** The wire form of a device group. */
export function toDeviceGroupJson(group: DeviceGroup) {
  return toWire(deviceGroupSchema, group)
}

/** The wire form of a membership. */
export function toDeviceGroupMemberJson(member: DeviceGroupMember) {
  return toWire(deviceGroupMemberSchema, member)
}
