import { z } from 'zod'
import type { RunChange } from '../../changes/change.ts'
import { changeRoute } from '../../changes/change-routes.ts'
import type { ApiRoute } from '../../schema/operations.ts'
import { recordIdSchema } from '../../platform/wire/wire-values.ts'
import { parseId } from '../../platform/ids.ts'
import { toStorableText } from '../../platform/storable-text.ts'
import { cancelDeviceDeletion } from './cancel-device-deletion.ts'
import {
  AUTHENTICATION_MODES,
  authenticationModeSchema,
  deviceRegistrationSchema,
  deviceSchema,
  toAuthenticationModeJson,
  toDeviceJson,
  toDeviceRegistrationJson,
} from './device-json.ts'
import { DEVICE_LIST } from './device-read.ts'
import { requestDeviceDeletion } from './request-device-deletion.ts'
import { setAuthenticationMode } from './set-authentication-mode.ts'
import { setDeviceNote } from './set-device-note.ts'
import { unregisterDevice } from './unregister-device.ts'

export interface DeviceWriteDependencies {
  readonly baseUrl: string
  readonly runChange: RunChange
  readonly deviceDeletionDelaySeconds: number
}

const TAGS = ['Devices']
const UPDATE = { tags: TAGS, permission: 'Update Devices' } as const
const REMOVE = { tags: TAGS, permission: 'Remove Devices' } as const

/** How many groups may sign in with one device. */
const PERSON_GROUPS_MAX = 500
const NOTE_LENGTH_MAX = 10_000

/** Changing who may use a device and what is noted about it, and removing devices. */
export function deviceWriteRoutes(dependencies: DeviceWriteDependencies): ApiRoute[] {
  return [
    noteRoute(dependencies),
    authenticationModeRoute(dependencies),
    ...removalRoutes(dependencies),
  ]
}

function noteRoute({ baseUrl, runChange }: DeviceWriteDependencies): ApiRoute {
  return changeRoute(runChange, {
    ...UPDATE,
    method: 'PATCH',
    path: '/devices/:id',
    summary: 'Change the note about a device',
    description: 'A blank note, or null, removes it.',
    body: z.object({
      note: z.string().max(NOTE_LENGTH_MAX).transform(toStorableText).nullable(),
    }),
    example: { body: { note: 'Spare laptop, **third floor**' } },
    responses: { 200: deviceSchema },
    handler: async ({ change, params, body }) => {
      const id = parseId(params.id, 'device')
      await setDeviceNote(change, id, body.note)
      return toDeviceJson(baseUrl, await DEVICE_LIST.get(change.tx, id))
    },
  })
}

function authenticationModeRoute({ runChange }: DeviceWriteDependencies): ApiRoute {
  return changeRoute(runChange, {
    ...UPDATE,
    method: 'PATCH',
    path: '/devices/:id/authentication_mode',
    stepUp: true,
    summary: 'Change who may sign in with a device',
    description:
      '`person_group_ids` is looked at in the mode `only_registered_owner_or_group_members` only; left out there, the groups stay. Every other mode forgets them.',
    body: z.object({
      authentication_mode: z.enum(AUTHENTICATION_MODES),
      person_group_ids: z.array(recordIdSchema).max(PERSON_GROUPS_MAX).nullish(),
    }),
    example: { body: { authentication_mode: 'anyone' } },
    responses: { 200: authenticationModeSchema },
    handler: async ({ change, params, body }) => {
      const { authentication_mode: mode, person_group_ids } = body
      const personGroupIds = person_group_ids ?? undefined
      const id = parseId(params.id, 'device')
      await setAuthenticationMode(change, id, {
        mode,
        ...(personGroupIds === undefined ? {} : { personGroupIds }),
      })
      return toAuthenticationModeJson(await DEVICE_LIST.get(change.tx, id))
    },
  })
}

function removalRoutes({
  baseUrl,
  runChange,
  deviceDeletionDelaySeconds,
}: DeviceWriteDependencies): ApiRoute[] {
  return [
    changeRoute(runChange, {
      ...REMOVE,
      method: 'DELETE',
      path: '/devices/:id/registration',
      summary: 'End the registration of a device',
      description:
        'The owner cannot sign in with the device any more. A mobile device is deleted with it.',
      responses: { 200: deviceRegistrationSchema },
      handler: async ({ change, params }) => {
        const id = parseId(params.id, 'device')
        return toDeviceRegistrationJson(baseUrl, await unregisterDevice(change, id))
      },
    }),
    changeRoute(runChange, {
      ...REMOVE,
      method: 'DELETE',
      path: '/devices/:id',
      stepUp: true,
      summary: 'Delete a device',
      description:
        'Marks the device for deletion and disables its agent at once. Until `deletion_due_at` it can be cancelled.',
      responses: { 200: deviceSchema },
      handler: async ({ change, params }) => {
        const id = parseId(params.id, 'device')
        await requestDeviceDeletion(change, id, deviceDeletionDelaySeconds)
        return toDeviceJson(baseUrl, await DEVICE_LIST.get(change.tx, id))
      },
    }),
    changeRoute(runChange, {
      ...REMOVE,
      method: 'POST',
      path: '/devices/:id/deletion_cancellation',
      summary: 'Keep a device that is to be deleted',
      responses: { 200: deviceSchema },
      handler: async ({ change, params }) => {
        const id = parseId(params.id, 'device')
        await cancelDeviceDeletion(change, id)
        return toDeviceJson(baseUrl, await DEVICE_LIST.get(change.tx, id))
      },
    }),
  ]
}
