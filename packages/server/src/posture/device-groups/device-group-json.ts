import { z } from 'zod'
import { timestampSchema, toTimestamp } from '../../platform/wire/wire-values.ts'
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
export function toDeviceGroupJson(group: DeviceGroup): z.input<typeof deviceGroupSchema> {
  return {
    id: group.id,
    created_at: toTimestamp(group.created_at),
    name: group.name,
    description: group.description,
    members_count: group.members_count,
  }
}

/** The wire form of a membership. */
export function toDeviceGroupMemberJson(
  member: DeviceGroupMember,
): z.input<typeof deviceGroupMemberSchema> {
  return { device_id: member.deviceId, group_id: member.groupId }
}
