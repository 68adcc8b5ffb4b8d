import type { Change } from '../../changes/change.ts'
import { insertDeliveries, type NewDelivery } from './delivery-store.ts'

/** Wakes the delivery engine of this process; other processes hear the notification. */
export type WakeDelivery = (destinationId: string) => void

/** The same as `insertDeliveries`; also wakes the engine of this process without a detour. */
export async function enqueueDeliveries(
  change: Change,
  deliveries: readonly NewDelivery[],
  wake: WakeDelivery,
): Promise<string[]> {
  const destinationIds = [...new Set(deliveries.map(({ destinationId }) => destinationId))]
  change.afterCommit(() => destinationIds.forEach((id) => wake(id)))
  return insertDeliveries(change, deliveries)
}
