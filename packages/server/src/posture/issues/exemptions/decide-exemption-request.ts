/*
 * What becomes of a request for an exemption. Owns the transitions between its states and that the
 * status of the device follows in the same change.
 */
import type { JsonObject } from '../../../changes/audit/audit-entry.ts'
import type { Change } from '../../../changes/change.ts'
import { lockDevices } from '../../devices/device-status-store.ts'
import { reevaluateLockedDevices } from '../../devices/reevaluate-devices.ts'
import { settleDueStatuses } from '../../devices/settle-due-statuses.ts'
import { conflict } from '../../../platform/app-error.ts'
import type { InitiatingEntity } from '../../../schema/status-values.ts'
import { assertEndsLater, disallowedBy } from './create-exemption-request.ts'
import { EXEMPTION_REQUEST_LIST, type ExemptionRequestRecord } from './exemption-request-read.ts'
import {
  listDisallowingChecks,
  refreshExemptions,
  updateExemptionRequest,
} from './exemption-request-store.ts'

type Status = ExemptionRequestRecord['status']

/** The columns that a decision sets. */
type DecidedColumns = Pick<
  ExemptionRequestRecord,
  | 'status'
  | 'internalExplanation'
  | 'denialExplanation'
  | 'coversFutureIssues'
  | 'expiresAt'
  | 'decidedAt'
  | 'decidedBy'
>

/** What is decided about a request. */
export type ExemptionDecision =
  | {
      readonly status: 'approved'
      readonly internalMessage: string
      /** Replaces what the requester asked for; null for no end. */
      readonly expiresAt?: Date | null | undefined
      readonly coversFutureIssues?: boolean | undefined
    }
  | {
      readonly status: 'denied'
      readonly internalMessage: string
      /** Why, for the requester. */
      readonly denialExplanation: string
    }
  /** Opens a request that was decided once more; an exemption ends with it. */
  | { readonly status: 'open' }
  /** The requester no longer asks for it. */
  | { readonly status: 'withdrawn' }

const NEXT_STATUSES: Readonly<Record<Status, readonly Status[]>> = {
  open: ['open', 'approved', 'denied', 'withdrawn'],
  approved: ['approved', 'denied', 'open'],
  denied: ['denied', 'approved', 'open'],
  withdrawn: ['withdrawn'],
}

const ACTIONS: Readonly<Record<Status, { readonly action: string; readonly verb: string }>> = {
  open: { action: 'exemption_request.reopened', verb: 'reopened' },
  approved: { action: 'exemption_request.approved', verb: 'approved' },
  denied: { action: 'exemption_request.denied', verb: 'denied' },
  withdrawn: { action: 'exemption_request.withdrawn', verb: 'withdrew' },
}

/**
 * Decides a request in the open change. An approval exempts its issues, those that are open and, where
 * it covers them, later ones of the same checks on the device; every other decision takes away what it
 * had granted. The device's status follows. Deciding the same again changes messages and end.
 *
 * @throws AppError `not_found`; `conflict` for a withdrawn request, the withdrawal of a decided one,
 * and the approval where a check allows no exemptions; `invalid_body` for an end that is over
 */
export async function decideExemptionRequest(
  change: Change,
  id: string,
  decision: ExemptionDecision,
): Promise<ExemptionRequestRecord> {
  const { tx } = change
  // What a request says may change until its device is locked.
  const { deviceId } = await EXEMPTION_REQUEST_LIST.get(tx, id)
  const locked = await lockDevices(tx, [deviceId])
  const at = change.now()
  const before = await EXEMPTION_REQUEST_LIST.get(tx, id)
  await assertPossible(tx, before, decision, at)
  const values = toValues(before, decision, { at, by: change.origin.actor.name })
  if (isSame(before, values)) return before

  const settled = await settleDueStatuses(change, locked, at)
  await updateExemptionRequest(tx, id, { ...values, updatedAt: at })
  await refreshExemptions(tx, { id, deviceId }, at)
  const after = await EXEMPTION_REQUEST_LIST.get(tx, id)
  recordDecision(change, before, after, locked[0]?.name ?? 'a device')
  const initiatingEntity: InitiatingEntity = decision.status === 'withdrawn' ? 'user' : 'admin'
  await reevaluateLockedDevices(change, settled, { initiatingEntity, occurredAt: at })
  return after
}

async function assertPossible(
  tx: Change['tx'],
  before: ExemptionRequestRecord,
  decision: ExemptionDecision,
  at: Date,
): Promise<void> {
  if (!NEXT_STATUSES[before.status].includes(decision.status)) {
    throw conflict(
      `The exemption request ${before.id} is ${before.status}; it cannot become ${decision.status}.`,
    )
  }
  if (decision.status !== 'approved') return
  assertEndsLater(decision.expiresAt === undefined ? before.expiresAt : decision.expiresAt, at)
  const disallowing = await listDisallowingChecks(tx, before.id)
  if (disallowing.length > 0) throw disallowedBy(disallowing)
}

function toValues(
  before: ExemptionRequestRecord,
  decision: ExemptionDecision,
  { at, by }: { readonly at: Date; readonly by: string },
): DecidedColumns {
  const { status } = decision
  const isDecided = status === 'approved' || status === 'denied'
  const isAgain = status === before.status
  const grant = status === 'approved' ? decision : undefined
  return {
    status,
    internalExplanation: isDecided ? decision.internalMessage : null,
    denialExplanation: status === 'denied' ? decision.denialExplanation : null,
    coversFutureIssues: grant?.coversFutureIssues ?? before.coversFutureIssues,
    expiresAt: grant?.expiresAt === undefined ? before.expiresAt : grant.expiresAt,
    decidedAt: isDecided ? (isAgain ? before.decidedAt : at) : null,
    decidedBy: isDecided ? (isAgain ? before.decidedBy : by) : null,
  }
}

function isSame(before: ExemptionRequestRecord, values: DecidedColumns): boolean {
  return JSON.stringify(toAudit(before)) === JSON.stringify(toAudit({ ...before, ...values }))
}

function toAudit(request: ExemptionRequestRecord): JsonObject {
  return {
    status: request.status,
    internal_explanation: request.internalExplanation,
    denial_explanation: request.denialExplanation,
    covers_future_issues: request.coversFutureIssues,
    expires_at: request.expiresAt?.toISOString() ?? null,
  }
}

function recordDecision(
  change: Change,
  before: ExemptionRequestRecord,
  after: ExemptionRequestRecord,
  deviceName: string,
): void {
  const { action, verb } = ACTIONS[after.status]
  change.recordAudit({
    action,
    target: { type: 'exemption_request', id: after.id },
    description: `${verb} the exemption request ${after.id} for ${deviceName}`,
    before: toAudit(before),
    after: { ...toAudit(after), issue_ids: after.issueIds },
  })
}
