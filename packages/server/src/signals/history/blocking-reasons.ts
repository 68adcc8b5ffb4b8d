import type { Change } from '../../changes/change.ts'
import type { StatusReason } from '../../changes/domain-event.ts'
import { listStatusIssues } from '../../posture/issues/issue-store.ts'

/** The open issues that block devices now, by the device. */
export async function readBlockingReasons(
  { tx, at }: Pick<Change, 'tx' | 'at'>,
  deviceIds: readonly string[],
): Promise<ReadonlyMap<string, readonly StatusReason[]>> {
  const issues = await listStatusIssues(tx, deviceIds)
  return Map.groupBy(
    issues.filter(({ blocksDeviceAt }) => blocksDeviceAt !== null && blocksDeviceAt <= at),
    ({ deviceId }) => deviceId,
  )
}
