import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { AUTH_STATES } from '../../schema/status-values.ts'
import { loadRecords } from '../../schema/operations.ts'
import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import { personLinkSchema, personResource } from '../../people/people/person-json.ts'
import { linkTo } from '../../platform/http/expand.ts'
import { linkSchema, timestampSchema, toLink } from '../../platform/wire/wire-values.ts'
import { DEVICE_LIST, DEVICE_TYPES, type DeviceRecord } from './device-read.ts'
import type { EndedRegistration } from './unregister-device.ts'

/** Who may sign in with a device. */
export const AUTHENTICATION_MODES = [
  'only_registered_owner',
  'only_registered_owner_or_group_members',
  'anyone',
] as const

/** Who may sign in with a device, on the wire. */
export const authenticationModeSchema = z
  .object({
    device_id: z.string(),
    authentication_mode: z.enum(AUTHENTICATION_MODES),
    person_groups: z.array(z.object({ id: z.string(), name: z.string() })),
  })
  .meta({ id: 'DeviceAuthenticationMode' })

/** A device on the wire. */
export const deviceSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    registered_at: timestampSchema
      .nullable()
      .describe('When the device was registered to its present owner.'),
    last_authenticated_at: timestampSchema.nullable(),
    last_seen_at: timestampSchema.describe('When the agent was last in contact with the service.'),
    registered_owner_info: personLinkSchema,
    operating_system: z.string(),
    hardware_model: z.string(),
    serial: z.string().nullable(),
    hardware_uuid: z.string().nullable(),
    note: z.string().nullable().describe('Markdown.'),
    auth_state: z.enum(AUTH_STATES),
    will_block_at: timestampSchema
      .nullable()
      .describe('When the device will be blocked; only while `auth_state` is `Will Block`.'),
    product_image_url: z.string(),
    auth_configuration: authenticationModeSchema
      .nullable()
      .describe('Null while the device is not registered.'),
    device_type: z.enum(['Mac', 'Linux', 'Windows', 'iOS', 'Android']),
    form_factor: z.enum(['computer', 'tablet', 'phone']),
    deletion_due_at: timestampSchema
      .nullable()
      .describe('When the device will be deleted; null unless somebody asked for that.'),
    duplicate_hardware_since: timestampSchema
      .nullable()
      .describe(
        'Since when another device has the same serial or hardware UUID; null while none has.',
      ),
  })
  .meta({ id: 'Device' })

/** A link to a device. */
export const deviceLinkSchema = linkTo(deviceSchema, 'DeviceLink')

/** The wire form of a device. */
export function toDeviceJson(baseUrl: string, device: DeviceRecord) {
  const isRegistered = device.registeredAt !== null
  return toWire(deviceSchema, device, {
    registered_owner_info: toLink(baseUrl, 'people', device.ownerPersonId),
    product_image_url: `${baseUrl}/product-images/${device.platform}.svg`,
    auth_configuration: isRegistered ? toAuthenticationModeJson(device) : null,
    device_type: DEVICE_TYPES[device.platform],
  })
}

/** The wire form of who may sign in with a device. */
export function toAuthenticationModeJson(
  device: Pick<DeviceRecord, 'id' | 'authenticationMode' | 'personGroups'>,
) {
  return toWire(authenticationModeSchema, device, { device_id: device.id })
}

/** A registration of a device that has just ended, on the wire. */
export const deviceRegistrationSchema = z
  .object({
    device_id: z.string(),
    registered_at: timestampSchema,
    registered_owner_info: linkSchema,
    device_info: linkSchema,
  })
  .meta({ id: 'DeviceRegistration' })

/** The wire form of an ended registration. */
export function toDeviceRegistrationJson(baseUrl: string, registration: EndedRegistration) {
  return toWire(deviceRegistrationSchema, registration, {
    registered_owner_info: toLink(baseUrl, 'people', registration.ownerPersonId),
    device_info: toLink(baseUrl, 'devices', registration.deviceId),
  })
}

/** Devices as the API lists and shows them. */
export function deviceResource(db: Kysely<Schema>, baseUrl: string) {
  return {
    db,
    list: DEVICE_LIST,
    item: deviceSchema,
    toJson: (device: DeviceRecord) => toDeviceJson(baseUrl, device),
    expand: { owner: { member: 'registered_owner_info', load: loadRecords(personResource(db)) } },
  }
}
