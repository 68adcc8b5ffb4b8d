import type { Change } from '../../../changes/change.ts'
import { findRequester, type RequesterReference } from '../../../people/people/find-requester.ts'
import { AppError, conflict, invalidBody } from '../../../platform/app-error.ts'
import { getDeviceForUpdate } from '../device-store.ts'
import type { RegistrationRequestRecord } from './registration-request-read.ts'
import { findPendingRequest, insertRegistrationRequest } from './registration-request-store.ts'

/** What a person asks for. */
export interface NewRegistrationRequest extends RequesterReference {
  readonly deviceId: string
  readonly message: string
  /** As whom the requester was proven on the device: an approval lets in nobody else of its users. */
  readonly osUser?: { readonly uid: string; readonly userName: string } | undefined
}

/**
 * Asks for a device to be registered to a person; admins decide.
 *
 * @throws AppError `invalid_body` for a person or a device that does not exist; `conflict` when the
 * device is registered to the person already, or the person has asked already
 */
export async function createRegistrationRequest(
  change: Change,
  input: NewRegistrationRequest,
): Promise<RegistrationRequestRecord> {
  const { tx, at } = change
  const requester = await findRequester(tx, input)
  const device = await getRequestedDevice(change, input.deviceId)
  if (device.ownerPersonId === requester.id) {
    throw conflict(`${device.name} is registered to ${requester.email} already.`)
  }
  const pending = await findPendingRequest(tx, device.id, requester.id)
  if (pending !== undefined) {
    throw conflict(
      `${requester.email} asks for ${device.name} already, by the registration request ${pending.id}.`,
    )
  }
  const request = await insertRegistrationRequest(tx, {
    deviceId: device.id,
    requesterPersonId: requester.id,
    requesterMessage: input.message,
    osUid: input.osUser?.uid ?? null,
    osUserName: input.osUser?.userName ?? null,
    internalApprovalNote: null,
    internalDenialNote: null,
    endUserDenialNote: null,
    requestedAt: at,
    decidedAt: null,
    decidedBy: null,
    updatedAt: at,
  })
  change.recordAudit({
    action: 'registration_request.created',
    target: { type: 'registration_request', id: request.id },
    description: `asked to register ${device.name} to ${requester.email}`,
    after: { status: request.status, device_id: device.id, requester_email: requester.email },
  })
  change.recordEvent({ type: 'requests.registration', requestId: request.id })
  return request
}

async function getRequestedDevice(change: Change, deviceId: string) {
  try {
    return await getDeviceForUpdate(change.tx, deviceId)
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'not_found') throw error
    throw invalidBody([{ path: 'device_id', message: error.message }])
  }
}
