import type { Change } from '../../changes/change.ts'
import { endExemptions, listStatusIssues, type StatusIssue } from '../issues/issue-store.ts'
import type { InitiatingEntity } from '../../schema/status-values.ts'
import { changeDeviceStatuses } from './change-device-status.ts'
import {
  listDevicesWithPendingChecks,
  listDueDeviceIds,
  lockDevices,
  type LockedDevice,
} from './device-status-store.ts'
import { evaluateDeviceStatus } from './evaluate-device-status.ts'

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

/** The same as `reevaluateDevices` for devices that the change has locked already; answers them as they are afterwards. */
export async function reevaluateLockedDevices(
  change: Change,
  devices: readonly LockedDevice[],
  cause: StatusCause,
): Promise<LockedDevice[]> {
  if (devices.length === 0) return []
  const facts = await readStatusFacts(change, devices)
  const evaluated = devices.map((device) => {
    const isEvaluated = cause.countsAsEvaluation === true || facts.isEvaluated(device)
    const occurredAt = latest(cause.occurredAt, device.statusChangedAt)
    const evaluation = evaluateDeviceStatus({
      isEvaluated,
      issues: facts.issuesOf(device),
      threshold: device.threshold,
      now: occurredAt,
    })
    return { device, evaluation, isEvaluated, occurredAt }
  })
  return changeDeviceStatuses(change, evaluated, cause.initiatingEntity)
}

/**
 * Makes the changes that time alone has brought about for locked devices up to `until`: one by one, in
 * their order, each at the exact time at which a grace period or an exemption ended. Must run before
 * anything else changes the issues of the devices.
 */
export async function settleDueStatuses(
  change: Change,
  devices: readonly LockedDevice[],
  until: Date,
): Promise<LockedDevice[]> {
  let current = [...devices]
  let due = current.filter((device) => isDue(device, until))
  if (due.length === 0) return current
  const dueIds = due.map((device) => device.id)
  const facts = await readStatusFacts(change, due)
  while (due.length > 0) {
    const evaluated = due.map((device) => {
      const occurredAt = latest(device.reevaluateAt ?? until, device.statusChangedAt)
      const isEvaluated = facts.isEvaluated(device)
      const evaluation = evaluateDeviceStatus({
        isEvaluated,
        issues: facts.issuesOf(device),
        threshold: device.threshold,
        now: occurredAt,
      })
      return { device, evaluation, isEvaluated, occurredAt }
    })
    const settled = await changeDeviceStatuses(change, evaluated, 'policy')
    const settledById = new Map(settled.map((device) => [device.id, device]))
    current = current.map((device) => settledById.get(device.id) ?? device)
    due = settled.filter((device) => isDue(device, until))
  }
  await endExemptions(change.tx, dueIds, until)
  return current
}

/**
 * Does the same for every device that is due by the time of the change. For a change of what counts
 * for many devices: it must hold the locks of all of them.
 */
export async function settleEveryDueStatus(change: Change): Promise<void> {
  for (;;) {
    const ids = await listDueDeviceIds(change.tx, change.at, BATCH_SIZE)
    const devices = await lockDevices(change.tx, ids)
    await settleDueStatuses(change, devices, change.at)
    if (ids.length < BATCH_SIZE) return
  }
}

function isDue(device: LockedDevice, until: Date): boolean {
  return device.reevaluateAt !== null && device.reevaluateAt <= until
}

function latest(time: Date, other: Date | null): Date {
  return other !== null && other > time ? other : time
}

interface StatusFacts {
  issuesOf(device: LockedDevice): readonly StatusIssue[]
  isEvaluated(device: LockedDevice): boolean
}

async function readStatusFacts(
  change: Change,
  devices: readonly LockedDevice[],
): Promise<StatusFacts> {
  const { tx } = change
  const issues = await listStatusIssues(
    tx,
    devices.map((device) => device.id),
  )
  const issuesByDevice = Map.groupBy(issues, (issue) => issue.deviceId)
  const unevaluated = devices.filter((device) => device.evaluatedAt === null)
  const owing =
    unevaluated.length === 0
      ? new Set<string>()
      : await listDevicesWithPendingChecks(
          tx,
          unevaluated.map((device) => device.id),
        )
  return {
    issuesOf: (device) => issuesByDevice.get(device.id) ?? [],
    isEvaluated: (device) => device.evaluatedAt !== null || !owing.has(device.id),
  }
}
