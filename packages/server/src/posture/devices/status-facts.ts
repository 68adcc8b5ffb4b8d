import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { listStatusIssues, type StatusIssue } from '../issues/issue-store.ts'
import { listDevicesWithPendingChecks, type LockedDevice } from './device-status-store.ts'

/** What the statuses of some devices are derived from. */
export interface StatusFacts {
  issuesOf(device: LockedDevice): readonly StatusIssue[]
  isEvaluated(device: LockedDevice): boolean
}

/** Reads the facts for devices: two statements at most, however many they are. */
export async function readStatusFacts(
  db: Kysely<Schema>,
  devices: readonly LockedDevice[],
): Promise<StatusFacts> {
  const issues = await listStatusIssues(
    db,
    devices.map((device) => device.id),
  )
  const issuesByDevice = Map.groupBy(issues, (issue) => issue.deviceId)
  const unevaluated = devices.filter((device) => device.evaluatedAt === null)
  const owing =
    unevaluated.length === 0
      ? new Set<string>()
      : await listDevicesWithPendingChecks(
          db,
          unevaluated.map((device) => device.id),
        )
  return {
    issuesOf: (device) => issuesByDevice.get(device.id) ?? [],
    isEvaluated: (device) => device.evaluatedAt !== null || !owing.has(device.id),
  }
}
