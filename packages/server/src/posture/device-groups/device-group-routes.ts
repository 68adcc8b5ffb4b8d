import { z } from 'zod'
import type { RouteFoundation } from '../../changes/foundation.ts'
import { changeRoute } from '../../changes/change-routes.ts'
import { deviceResource } from '../devices/device-json.ts'
import { AppError } from '../../platform/app-error.ts'
import { listRecords, showRecord, type ApiRoute } from '../../schema/operations.ts'
import { recordIdSchema } from '../../platform/wire/wire-values.ts'
import { givenMembers } from '../../platform/given-members.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import { changeDeviceGroup, createDeviceGroup, deleteDeviceGroup } from './change-device-groups.ts'
import { addDevicesToGroup, removeDeviceFromGroup } from './change-memberships.ts'
import {
  deviceGroupMemberSchema,
  deviceGroupSchema,
  toDeviceGroupJson,
  toDeviceGroupMemberJson,
} from './device-group-json.ts'
import { DEVICE_GROUP_LIST, isMemberOf } from './device-group-read.ts'

const TAGS = ['Device groups']
const WRITE = { tags: TAGS, permission: 'Manage Device Groups' } as const

const NAME_LENGTH_MAX = 200
const DESCRIPTION_LENGTH_MAX = 2_000
/** How many devices one request may add. */
const DEVICES_PER_REQUEST_MAX = 1_000

const nameSchema = z.string().trim().min(1).max(NAME_LENGTH_MAX).transform(toStorableText)
const descriptionSchema = z.string().trim().max(DESCRIPTION_LENGTH_MAX).transform(toStorableText)

/** Device groups, their members, and who belongs to one. */
export function deviceGroupRoutes(dependencies: RouteFoundation): ApiRoute[] {
  return [
    ...readRoutes(dependencies),
    ...membershipRoutes(dependencies),
    ...groupWriteRoutes(dependencies),
  ]
}

function readRoutes({ db, baseUrl }: RouteFoundation): ApiRoute[] {
  const access = { tags: TAGS, permission: null } as const
  const groups = { db, list: DEVICE_GROUP_LIST, item: deviceGroupSchema, toJson: toDeviceGroupJson }
  return [
    listRecords(groups, { ...access, path: '/device_groups', summary: 'List device groups' }),
    showRecord(groups, { ...access, path: '/device_groups/:id', summary: 'Show a device group' }),
    listRecords(deviceResource(db, baseUrl), {
      ...access,
      path: '/device_groups/:id/devices',
      summary: 'List the devices of a group',
      scope: async ({ id }) => isMemberOf((await DEVICE_GROUP_LIST.get(db, id)).id),
    }),
  ]
}

function membershipRoutes({ runChange }: RouteFoundation): ApiRoute[] {
  return [
    changeRoute(runChange, {
      ...WRITE,
      method: 'POST',
      path: '/device_groups/:id/memberships',
      summary: 'Add devices to a group',
      description: `Up to ${DEVICES_PER_REQUEST_MAX} devices, all or none. Devices that belong to the group already stay; the answer holds every device that was asked for.`,
      body: z.object({
        device_ids: z.array(recordIdSchema).max(DEVICES_PER_REQUEST_MAX).optional(),
      }),
      responses: { 200: z.object({ data: z.array(deviceGroupMemberSchema) }) },
      example: { body: { device_ids: ['1', '2'] } },
      handler: async ({ change, params, body }) => {
        const { device_ids: deviceIds = [] } = body
        if (deviceIds.length === 0) throw missingDeviceIds()
        const members = await addDevicesToGroup(change, params.id, deviceIds)
        return { data: members.map(toDeviceGroupMemberJson) }
      },
    }),
    changeRoute(runChange, {
      ...WRITE,
      method: 'DELETE',
      path: '/device_groups/:id/memberships/:device_id',
      summary: 'Remove a device from a group',
      responses: { 200: deviceGroupMemberSchema },
      handler: async ({ change, params }) => {
        const { id, device_id: deviceId } = params
        return toDeviceGroupMemberJson(await removeDeviceFromGroup(change, id, deviceId))
      },
    }),
  ]
}

/** Clients know this refusal as a bad request, unlike other faults of a body. */
function missingDeviceIds(): AppError {
  const message = 'The parameter device_ids is required: an array with at least one device id.'
  return new AppError('invalid_parameter', message, {
    details: [{ path: 'device_ids', message }],
  })
}

function groupWriteRoutes({ runChange }: RouteFoundation): ApiRoute[] {
  return [
    changeRoute(runChange, {
      ...WRITE,
      method: 'POST',
      path: '/device_groups',
      summary: 'Create a device group',
      body: z.object({ name: nameSchema, description: descriptionSchema.default('') }),
      responses: { 200: deviceGroupSchema },
      example: { body: { name: 'Laptops', description: 'Computers that leave the house.' } },
      handler: async ({ change, body }) => toDeviceGroupJson(await createDeviceGroup(change, body)),
    }),
    changeRoute(runChange, {
      ...WRITE,
      method: 'PATCH',
      path: '/device_groups/:id',
      summary: 'Rename or describe a device group',
      description: 'Members that are left out stay as they are.',
      body: z.object({ name: nameSchema.optional(), description: descriptionSchema.optional() }),
      responses: { 200: deviceGroupSchema },
      example: { body: { name: 'Travel laptops' } },
      handler: async ({ change, params, body }) =>
        toDeviceGroupJson(await changeDeviceGroup(change, params.id, givenMembers(body))),
    }),
    changeRoute(runChange, {
      ...WRITE,
      method: 'DELETE',
      path: '/device_groups/:id',
      summary: 'Delete a device group',
      description: 'Refused while checks are configured for it.',
      responses: { 200: deviceGroupSchema },
      handler: async ({ change, params }) =>
        toDeviceGroupJson(await deleteDeviceGroup(change, params.id)),
    }),
  ]
}
