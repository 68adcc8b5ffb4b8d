import type { Change } from '../../changes/change.ts'
import { listStatusIssues, type StatusIssue } from '../issues/issue-store.ts'
import { listDevicesWithPendingChecks, type LockedDevice } from './device-status-store.ts'

/** What the statuses of some devices are derived from. */
export interface StatusFacts {
  issuesOf(device: LockedDevice): readonly StatusIssue[]
  isEvaluated(device: LockedDevice): boolean
}

/** Reads the facts for locked devices: two statements at most, however many they are. */
export async function readStatusFacts(
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
