import type { Transaction } from 'kysely'
import type { Change } from '../../../changes/change.ts'
import { getDeviceForUpdate } from '../../devices/device-store.ts'
import { findRequester, type RequesterReference } from '../../../people/people/find-requester.ts'
import { conflict, invalidBody, type AppError } from '../../../platform/app-error.ts'
import type { Schema } from '../../../schema/schema.ts'
import { EXEMPTION_REQUEST_LIST, type ExemptionRequestRecord } from './exemption-request-read.ts'
import {
  insertExemptionRequest,
  listRequestedIssues,
  type RequestedIssue,
} from './exemption-request-store.ts'

/** What a person asks for. */
export interface NewExemptionRequest extends RequesterReference {
  /** Open issues of one device. */
  readonly issueIds: readonly string[]
  readonly message: string
  /** Asks for all later issues of the same checks on the device as well. */
  readonly coversFutureIssues: boolean
  /** Asks for an end; null for none. */
  readonly expiresAt: Date | null
}

/**
 * Asks for an exemption; admins decide. Whether the person may speak for the device is the caller's
 * to know. Changes no status.
 *
 * @throws AppError `invalid_body` for a person or issues that do not exist, issues of several devices
 * or of people, and an end that is over; `conflict` for issues that are resolved, that are asked for
 * already, or whose check allows no exemptions
 */
export async function createExemptionRequest(
  change: Change,
  input: NewExemptionRequest,
): Promise<ExemptionRequestRecord> {
  const { tx, at } = change
  const requester = await findRequester(tx, input)
  assertEndsLater(input.expiresAt, at)
  const deviceId = toDeviceId(await listKnownIssues(tx, input.issueIds))
  const device = await getDeviceForUpdate(tx, deviceId)
  const issues = await listKnownIssues(tx, input.issueIds)
  issues.forEach(assertRequestable)
  const id = await insertExemptionRequest(
    tx,
    {
      deviceId: device.id,
      requesterPersonId: requester.id,
      requesterMessage: input.message,
      coversFutureIssues: input.coversFutureIssues,
      expiresAt: input.expiresAt,
      internalExplanation: null,
      denialExplanation: null,
      requestedAt: at,
      decidedAt: null,
      decidedBy: null,
      updatedAt: at,
    },
    issues,
  )
  change.recordAudit({
    action: 'exemption_request.created',
    target: { type: 'exemption_request', id },
    description: `asked for an exemption on ${device.name} for ${requester.email}: ${issues.map((issue) => issue.title).join(', ')}`,
    after: {
      status: 'open',
      device_id: device.id,
      requester_email: requester.email,
      issue_ids: issues.map((issue) => issue.id),
      covers_future_issues: input.coversFutureIssues,
      expires_at: input.expiresAt?.toISOString() ?? null,
    },
  })
  change.recordEvent({ type: 'requests.issue_exemption', requestId: id })
  return EXEMPTION_REQUEST_LIST.get(tx, id)
}

/**
 * An exemption that is over when it begins would be none.
 *
 * @throws AppError `invalid_body`
 */
export function assertEndsLater(expiresAt: Date | null | undefined, at: Date): void {
  if (expiresAt === null || expiresAt === undefined || expiresAt > at) return
  throw invalidBody([{ path: 'expires_at', message: 'Must be in the future.' }])
}

async function listKnownIssues(
  tx: Transaction<Schema>,
  issueIds: readonly string[],
): Promise<RequestedIssue[]> {
  const issues = await listRequestedIssues(tx, issueIds)
  const known = new Set(issues.map((issue) => issue.id))
  const details = issueIds.flatMap((id, index) =>
    known.has(id) ? [] : [{ path: `issue_ids.${index}`, message: `There is no issue ${id}.` }],
  )
  if (details.length > 0) throw invalidBody(details)
  return issues
}

function toDeviceId(issues: readonly RequestedIssue[]): string {
  const [first] = issues
  if (first === undefined || first.deviceId === null) {
    throw invalidBody([{ path: 'issue_ids', message: 'Must be issues of a device.' }])
  }
  if (issues.some((issue) => issue.deviceId !== first.deviceId)) {
    throw invalidBody([{ path: 'issue_ids', message: 'Must all be issues of the same device.' }])
  }
  return first.deviceId
}

function assertRequestable(issue: RequestedIssue): void {
  if (!issue.isOpen) throw conflict(`The issue ${issue.id} is resolved: nothing is to be exempted.`)
  if (issue.areExemptionsDisallowed) throw disallowedBy([issue.checkName])
  if (issue.openRequestId !== null) {
    throw conflict(
      `The issue ${issue.id} is asked for already, by the exemption request ${issue.openRequestId}.`,
    )
  }
}

/** The refusal for checks that allow no exemptions. */
export function disallowedBy(checkNames: readonly string[]): AppError {
  return conflict(`No exemptions are allowed from: ${checkNames.join(', ')}.`)
}
