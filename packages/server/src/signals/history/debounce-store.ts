import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import { sql } from 'kysely'
import { lockedById, type DeliveryCause } from '../dispatch/delivery-store.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'
import { IS_UNSEEN } from './own-due-time-store.ts'

/**
 * Gives up the events that say that a device is compliant again and that nobody has seen yet. Answers
 * the devices that there was one of.
 */
export async function discardWaitingRecoveries(
  { tx, at }: DeliveryCause,
  destinationId: DestinationId,
  deviceIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (deviceIds.length === 0) return new Set()
  const { rows } = await sql<{ deviceId: string }>`
    update delivery set state = 'discarded', finished_at = ${at},
      last_error = 'The device was not compliant again before this was due to be told'
    where id in (${lockedById(sql`
      destination_id = ${destinationId} and state = 'queued'
        and event_type = ${DEVICE_COMPLIANCE_CHANGE}
        and subject_key = any(${deviceIds.map((id) => `device:${id}`)}::text[])
        and next_attempt_at > now() and ${IS_UNSEEN}`)})
    returning substr(subject_key, 8) as "deviceId"`.execute(tx)
  return new Set(rows.map(({ deviceId }) => deviceId))
}
