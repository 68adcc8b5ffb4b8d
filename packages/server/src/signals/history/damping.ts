/*
 * Damping of devices that flap: good news is held back for a while, and when it does not last neither
 * it nor the return of the old state is told. The first bad state is never delayed, and what is told
 * in the end is the last state.
 */
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import { sql } from 'kysely'
import type { Change } from '../../changes/change.ts'
import type { DeviceStatusChange } from '../../posture/devices/device-status-change.ts'
import { SECOND_MS } from '../../platform/clock.ts'
import type { Stream } from '../streams/stream-store.ts'

/** A change of compliance to tell, and when at the earliest. */
export interface News {
  readonly statusChange: DeviceStatusChange
  /** At once when undefined. */
  readonly dueAt?: Date
}

/** What of the changes a stream is to be told. The caller holds the locks of the devices. */
export async function dampNews(
  change: Change,
  { debounceSeconds: dampingSeconds, destinationId }: Stream,
  statusChanges: readonly DeviceStatusChange[],
): Promise<News[]> {
  if (dampingSeconds === 0) return statusChanges.map((statusChange) => ({ statusChange }))
  const relapses = statusChanges.filter(({ current }) => current.compliance === 'not-compliant')
  const untold = await takeBackGoodNews(change, destinationId, relapses)
  const dueAt = new Date(change.at.getTime() + dampingSeconds * SECOND_MS)
  return statusChanges.flatMap((statusChange) => {
    if (statusChange.current.compliance === 'compliant') return [{ statusChange, dueAt }]
    return untold.has(statusChange.device.id) ? [] : [{ statusChange }]
  })
}

/** The devices whose good news nobody has seen yet; it is given up. */
async function takeBackGoodNews(
  change: Change,
  destinationId: string,
  relapses: readonly DeviceStatusChange[],
): Promise<Set<string>> {
  if (relapses.length === 0) return new Set()
  const { rows } = await sql<{ deviceId: string }>`
    update delivery set state = 'discarded', finished_at = ${change.at},
      last_error = 'The device was not compliant again before this was due to be told'
    where destination_id = ${destinationId} and state = 'queued'
      and event_type = ${DEVICE_COMPLIANCE_CHANGE}
      and subject_key = any(${relapses.map(({ device }) => `device:${device.id}`)}::text[])
      and next_attempt_at > ${change.at} and attempt_count = 0 and token is null
      and claimed_by is null
    returning substr(subject_key, 8) as "deviceId"`.execute(change.tx)
  return new Set(rows.map(({ deviceId }) => deviceId))
}
