/*
 * From what counts against a device to its status: evaluates locked devices, and writes what has changed with
 * its transition, audit entry and domain event. The rules are in evaluate-device-status.ts.
 */
import type { Change } from '../../changes/change.ts'
import type { InitiatingEntity } from '../../schema/status-values.ts'
import { tellDeviceIssues } from './device-issues-store.ts'
import {
  lockDevices,
  REEVALUATE_CHANNEL,
  updateDeviceStatuses,
  type DeviceStatusColumns,
  type LockedDevice,
  type StatusTransition,
} from './device-status-store.ts'
import { evaluateDeviceStatus, type DeviceEvaluation } from './evaluate-device-status.ts'
import { readStatusFacts, type StatusFacts } from './status-facts.ts'
import { toDeviceOfChange } from './to-device-of-change.ts'

/** Why devices are evaluated again. */
export interface StatusCause {
  readonly initiatingEntity: InitiatingEntity
  /** When it happened; a status never changes earlier than it last did. */
  readonly occurredAt: Date
  /** Takes devices that still owe answers as evaluated all the same. */
  readonly countsAsEvaluation?: boolean
}

/** How many devices are read and written by one statement. */
const BATCH_SIZE = 500

/**
 * Locks devices and derives their statuses anew from their open issues, in the open change. For
 * whatever changes what counts: exemptions, groups, configurations, the threshold. Unknown ids are
 * ignored; devices whose status stays the same are not written.
 */
export async function reevaluateDevices(
  change: Change,
  deviceIds: readonly string[],
  cause: StatusCause,
): Promise<void> {
  const sorted = [...new Set(deviceIds)].sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
  for (let start = 0; start < sorted.length; start += BATCH_SIZE) {
    const devices = await lockDevices(change.tx, sorted.slice(start, start + BATCH_SIZE))
    await reevaluateLockedDevices(change, devices, cause)
  }
}

/**
 * The same as `reevaluateDevices` for devices that the change has locked already; answers them as they are afterwards.
 */
export async function reevaluateLockedDevices(
  change: Change,
  devices: readonly LockedDevice[],
  cause: StatusCause,
): Promise<LockedDevice[]> {
  if (devices.length === 0) return []
  const facts = await readStatusFacts(change.tx, devices)
  const evaluated = devices.map((device) =>
    evaluateDevice(device, facts, cause.occurredAt, cause.countsAsEvaluation),
  )
  return changeDeviceStatuses(change, evaluated, cause.initiatingEntity)
}

/** An evaluation of a locked device that is to become its status. */
interface EvaluatedDevice {
  readonly device: LockedDevice
  readonly evaluation: DeviceEvaluation
  readonly isEvaluated: boolean
  readonly occurredAt: Date
}

/** Evaluates a locked device as of a time; a status never changes earlier than it last did. */
export function evaluateDevice(
  device: LockedDevice,
  facts: StatusFacts,
  at: Date,
  countsAsEvaluation = false,
): EvaluatedDevice {
  const { statusChangedAt, threshold } = device
  const occurredAt = statusChangedAt !== null && statusChangedAt > at ? statusChangedAt : at
  const isEvaluated = countsAsEvaluation || facts.isEvaluated(device)
  const issues = facts.issuesOf(device)
  const evaluation = evaluateDeviceStatus({ isEvaluated, issues, threshold, now: occurredAt })
  return { device, evaluation, isEvaluated, occurredAt }
}

/**
 * Makes evaluations the statuses of their devices: columns, and for each device whose state or
 * compliance changed a transition, an audit entry and an event. Writes nothing for the others. Answers
 * the devices as they are afterwards, still locked.
 */
export async function changeDeviceStatuses(
  change: Change,
  evaluated: readonly EvaluatedDevice[],
  initiatingEntity: InitiatingEntity,
): Promise<LockedDevice[]> {
  const next = evaluated.map((item) => ({ item, device: toChangedDevice(item) }))
  const touched = next.filter(({ item, device }) => hasChanged(item.device, device))
  const moved = touched.filter(({ item, device }) => isOtherStatus(item.device, device))
  if (touched.length > 0) {
    const columns = touched.map(({ device }) => toColumns(device))
    const transitions = moved.map(({ item }) =>
      toTransition(change.ofDevice(item.device.id), item, initiatingEntity),
    )
    await updateDeviceStatuses(change.tx, columns, transitions, change.at)
    tellEarliest(change, touched)
    const statuses = touched.map(({ item, device }) => ({ before: item.device, after: device }))
    tellDeviceIssues(change, statuses)
  }
  for (const { item } of moved) {
    const part = change.ofDevice(item.device.id)
    recordStatusAudit(part, item, initiatingEntity)
    recordStatusEvent(part, item, initiatingEntity)
  }
  return next.map(({ device }) => device)
}

function toChangedDevice(item: EvaluatedDevice): LockedDevice {
  const { device, evaluation, occurredAt } = item
  const isMoved =
    device.authState !== evaluation.authState || device.compliance !== evaluation.compliance
  return {
    ...device,
    authState: evaluation.authState,
    compliance: evaluation.compliance,
    willBlockAt: evaluation.willBlockAt,
    reevaluateAt: evaluation.reevaluateAt,
    evaluatedAt: device.evaluatedAt ?? (item.isEvaluated ? occurredAt : null),
    statusChangedAt: isMoved ? occurredAt : device.statusChangedAt,
  }
}

function isOtherStatus(before: LockedDevice, after: LockedDevice): boolean {
  return before.authState !== after.authState || before.compliance !== after.compliance
}

function hasChanged(before: LockedDevice, after: LockedDevice): boolean {
  return (
    isOtherStatus(before, after) ||
    before.willBlockAt?.getTime() !== after.willBlockAt?.getTime() ||
    before.reevaluateAt?.getTime() !== after.reevaluateAt?.getTime() ||
    before.evaluatedAt?.getTime() !== after.evaluatedAt?.getTime()
  )
}

function toTransition(
  change: Change,
  item: EvaluatedDevice,
  initiatingEntity: InitiatingEntity,
): StatusTransition {
  const { device, evaluation } = item
  return {
    device_id: device.id,
    occurred_at: item.occurredAt,
    from_state: device.authState,
    to_state: evaluation.authState,
    from_compliance: device.compliance,
    to_compliance: evaluation.compliance,
    initiating_entity: initiatingEntity,
    actor_name: change.origin.actor.name,
    reason: toReasonText(item),
    txn: change.txn,
  }
}

function toColumns(device: LockedDevice): DeviceStatusColumns {
  return {
    id: device.id,
    auth_state: device.authState,
    will_block_at: device.willBlockAt,
    compliance: device.compliance,
    evaluated_at: device.evaluatedAt,
    status_changed_at: device.statusChangedAt,
    reevaluate_at: device.reevaluateAt,
  }
}

function tellEarliest(
  change: Change,
  touched: readonly { item: EvaluatedDevice; device: LockedDevice }[],
): void {
  const times = touched
    .filter(({ item, device }) => {
      const before = item.device.reevaluateAt
      return device.reevaluateAt !== null && (before === null || device.reevaluateAt < before)
    })
    .map(({ device }) => device.reevaluateAt?.getTime() ?? Number.POSITIVE_INFINITY)
  if (times.length === 0) return
  change.tellDueAfterCommit(REEVALUATE_CHANNEL, new Date(Math.min(...times)))
}

function recordStatusAudit(
  change: Change,
  item: EvaluatedDevice,
  initiatingEntity: InitiatingEntity,
): void {
  const { device, evaluation, occurredAt } = item
  change.recordAudit({
    action: 'device.status_changed',
    target: { type: 'device', id: device.id },
    description: `changed the status of ${device.name} from ${device.authState} to ${evaluation.authState}: ${toReasonText(item)}`,
    before: {
      auth_state: device.authState,
      compliance: device.compliance,
      will_block_at: device.willBlockAt?.toISOString() ?? null,
    },
    after: {
      auth_state: evaluation.authState,
      compliance: evaluation.compliance,
      will_block_at: evaluation.willBlockAt?.toISOString() ?? null,
      occurred_at: occurredAt.toISOString(),
      initiating_entity: initiatingEntity,
      issue_ids: evaluation.reasons.slice(0, AUDITED_ISSUES_MAX).map((reason) => reason.issueId),
    },
  })
}

function recordStatusEvent(
  change: Change,
  { device, evaluation, occurredAt }: EvaluatedDevice,
  initiatingEntity: InitiatingEntity,
): void {
  change.recordEvent({
    type: 'device.status_changed',
    device: toDeviceOfChange(device),
    previous: { authState: device.authState, compliance: device.compliance },
    current: { authState: evaluation.authState, compliance: evaluation.compliance },
    occurredAt,
    initiatingEntity,
    reasons: evaluation.reasons,
  })
}

const AUDITED_ISSUES_MAX = 50

function toReasonText({ evaluation, isEvaluated, device }: EvaluatedDevice): string {
  if (!isEvaluated && device.evaluatedAt === null) return 'It has not answered its checks yet.'
  const [worst] = evaluation.reasons
  if (worst === undefined) return 'No open issue counts against it.'
  const rest = evaluation.reasons.length - 1
  return rest === 0 ? worst.issueTitle : `${worst.issueTitle} (and ${rest} more)`
}
