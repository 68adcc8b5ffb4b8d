import type { JsonObject } from '../../../changes/audit/audit-entry.ts'
import type { Change } from '../../../changes/change.ts'
import { findPerson, type Person } from '../../../people/people/person-store.ts'
import { conflict } from '../../../platform/app-error.ts'
import { getDeviceForUpdate } from '../device-store.ts'
import { setDeviceOwner } from '../set-device-owner.ts'
import {
  REGISTRATION_REQUEST_LIST,
  type RegistrationRequestRecord,
} from './registration-request-read.ts'
import { updateRegistrationRequest } from './registration-request-store.ts'

type Status = RegistrationRequestRecord['status']

/** The columns that a decision sets. */
type DecidedColumns = Pick<
  RegistrationRequestRecord,
  | 'status'
  | 'internalApprovalNote'
  | 'internalDenialNote'
  | 'endUserDenialNote'
  | 'decidedAt'
  | 'decidedBy'
>

/** What is decided about a request; a note that is left out stays when it is decided the same again. */
export type RegistrationDecision =
  | { readonly status: 'approved'; readonly internalMessage: string | null | undefined }
  | {
      readonly status: 'denied'
      readonly internalMessage: string | null | undefined
      /** Why, for the requester. */
      readonly endUserDenialMessage: string
    }
  /** Opens a denied request once more. */
  | { readonly status: 'pending' }

const NEXT_STATUSES: Readonly<Record<Status, readonly Status[]>> = {
  pending: ['pending', 'approved', 'denied'],
  approved: ['approved'],
  denied: ['denied', 'approved', 'pending'],
}

const ACTIONS: Readonly<Record<Status, { readonly action: string; readonly verb: string }>> = {
  pending: { action: 'registration_request.reopened', verb: 'reopened' },
  approved: { action: 'registration_request.approved', verb: 'approved' },
  denied: { action: 'registration_request.denied', verb: 'denied' },
}

/**
 * Decides a request in the open change. An approval registers the device to the requester, whoever
 * owned it before. Deciding the same again changes the notes and nothing else.
 *
 * @throws AppError `not_found`; `conflict` for a request that is approved already, and for the approval
 * of somebody who is gone
 */
export async function decideRegistrationRequest(
  change: Change,
  id: string,
  decision: RegistrationDecision,
): Promise<RegistrationRequestRecord> {
  const { tx, at } = change
  // What a request says may change until its device is locked.
  const { deviceId } = await REGISTRATION_REQUEST_LIST.get(tx, id)
  const device = await getDeviceForUpdate(tx, deviceId)
  const before = await REGISTRATION_REQUEST_LIST.get(tx, id)
  if (!NEXT_STATUSES[before.status].includes(decision.status)) {
    throw conflict(
      `The registration request ${id} is ${before.status}; it cannot become ${decision.status}.`,
    )
  }
  const values = toValues(change, before, decision)
  if (JSON.stringify(toAudit(before)) === JSON.stringify(toAudit(values))) return before
  if (decision.status === 'approved' && before.status !== 'approved') {
    const { id: personId, email } = await getRequester(change, before)
    await setDeviceOwner(change, deviceId, { email })
    change.recordEvent({ type: 'registration_request.approved', requestId: id, deviceId, personId })
  }
  const after = await updateRegistrationRequest(tx, id, { ...values, updatedAt: at })
  if (after.status === 'denied' && before.status !== 'denied') {
    change.recordEvent({ type: 'registration_request.denied', deviceId })
  }
  const { action, verb } = ACTIONS[after.status]
  change.recordAudit({
    action,
    target: { type: 'registration_request', id },
    description: `${verb} the registration request ${id} for ${device.name}`,
    before: toAudit(before),
    after: toAudit(after),
  })
  return after
}

async function getRequester(change: Change, request: RegistrationRequestRecord): Promise<Person> {
  const person =
    request.requesterPersonId === null
      ? undefined
      : await findPerson(change.tx, request.requesterPersonId)
  if (person !== undefined && person.deprovisionedAt === null) return person
  throw conflict('The requester is no longer there; the device cannot be registered to nobody.')
}

function toValues(
  change: Change,
  before: RegistrationRequestRecord,
  decision: RegistrationDecision,
): DecidedColumns {
  const { status } = decision
  const isDecided = status !== 'pending'
  const isAgain = status === before.status
  return {
    status,
    internalApprovalNote:
      status === 'approved' ? noteOr(before.internalApprovalNote, decision.internalMessage) : null,
    internalDenialNote:
      status === 'denied' ? noteOr(before.internalDenialNote, decision.internalMessage) : null,
    endUserDenialNote: status === 'denied' ? decision.endUserDenialMessage : null,
    decidedAt: isDecided ? (isAgain ? before.decidedAt : change.at) : null,
    decidedBy: isDecided ? (isAgain ? before.decidedBy : change.origin.actor.name) : null,
  }
}

function toAudit(request: DecidedColumns): JsonObject {
  return {
    status: request.status,
    internal_approval_note: request.internalApprovalNote,
    internal_denial_note: request.internalDenialNote,
    end_user_denial_note: request.endUserDenialNote,
  }
}

/** What is left out stays; of a decision that was not made before there is none. */
function noteOr(before: string | null, given: string | null | undefined): string | null {
  return given === undefined ? before : given
}
