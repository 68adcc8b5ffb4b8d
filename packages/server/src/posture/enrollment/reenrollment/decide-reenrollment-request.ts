import type { Change } from '../../../changes/change.ts'
import { conflict } from '../../../platform/app-error.ts'
import { DAY_MS } from '../../../platform/clock.ts'
import { parseId } from '../../../platform/ids.ts'
import type { ReenrollmentRequest } from './reenrollment-request-read.ts'
import {
  getReenrollmentRequestForUpdate,
  updateReenrollmentRequest,
} from './reenrollment-request-store.ts'

/** Agents ask again within ten minutes, those of machines that are switched off on the next day. */
const APPROVAL_MS = DAY_MS

/**
 * Decides whether a machine may enroll as a known device. An approval holds for one enrollment within 24 hours,
 * from the same address, with the same host identifier, hardware and enrollment secret; it moves no owner.
 * A denial holds until it is taken back by an approval. Idempotent; an approval again begins its time anew.
 *
 * @throws AppError `not_found`; `conflict` for a machine that has been let in already
 */
export async function decideReenrollmentRequest(
  change: Change,
  id: string,
  status: 'approved' | 'denied',
): Promise<ReenrollmentRequest> {
  const { tx, at, origin } = change
  const before = await getReenrollmentRequestForUpdate(tx, parseId(id, 're-enrollment request'))
  if (before.status === 'completed') {
    throw conflict(`The machine of the re-enrollment request ${id} has enrolled.`)
  }
  if (before.status === 'denied' && status === 'denied') return before
  const until = status === 'approved' ? new Date(at.getTime() + APPROVAL_MS) : null
  const after = await updateReenrollmentRequest(tx, before.id, {
    status,
    approvedUntil: until,
    decidedAt: at,
    decidedBy: origin.actor.name,
    updatedAt: at,
  })
  change.recordAudit({
    action: `reenrollment_request.${status}`,
    target: { type: 'reenrollment_request', id: before.id },
    description: `${status} the re-enrollment request ${before.id} of a machine at ${before.ipAddress ?? 'an unknown address'} as device ${before.deviceId}`,
    before: { status: before.status },
    after: { status, device_id: before.deviceId, approved_until: until?.toISOString() ?? null },
  })
  return after
}
