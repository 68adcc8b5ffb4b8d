import type { HurriedDevices } from '../../posture/osquery/hurried-devices.ts'
import type { NodeState } from '../../posture/osquery/node-cache.ts'

/**
 * Whether somebody waits for a device or may do so at any time: its owner signs in, or it has issues. It is then held
 * longer and comes back sooner.
 */
export function isAwaited(
  { deviceId, hasIssues }: Pick<NodeState, 'deviceId' | 'hasIssues'>,
  hurried: Pick<HurriedDevices, 'isHurried'>,
): boolean {
  return hasIssues || hurried.isHurried(deviceId)
}
