import type { Change } from '../audit/change.ts'
import type { StatusDependencies } from '../devices/change-device-status.ts'
import { reevaluateDevices, type StatusCause } from '../devices/reevaluate-devices.ts'
import { lockDeviceRows } from '../devices/device-status-store.ts'
import { moveCheckCounters, toCounterStripe, type CounterDelta } from './check-counter-store.ts'
import { insertCheckTransitions } from './check-result-store.ts'
import {
  listDevicesInScope,
  moveResultsIntoScope,
  refreshBlockingTimes,
  resolveIssuesOutOfScope,
  type ScopeMove,
  type ScopeSelection,
} from './check-scope-store.ts'

/**
 * Makes results, issues, counters and device statuses follow from who is targeted and what the checks
 * are configured to do. To be called in the change that touches any of it: with `checkIds` after a
 * check was created, configured, paused, revised or retired; with `deviceIds` after a device enrolled
 * or moved between groups. At least one side must be given. Idempotent.
 *
 * Issues of results that leave the scope are resolved. What a configuration does to issues that are
 * open already counts at once, in this change and at its time.
 */
export async function applyCheckScope(
  change: Change,
  deps: StatusDependencies,
  selection: ScopeSelection,
  cause: Pick<StatusCause, 'initiatingEntity'> & { readonly reason: string },
): Promise<void> {
  const { tx, at } = change
  // Reports hold the lock of their device: what they read of a result must not move beneath them.
  await lockDeviceRows(tx, selection.deviceIds)
  const moves = await moveResultsIntoScope(tx, selection, at)
  await insertCheckTransitions(
    tx,
    moves.flatMap((move) =>
      move.from_status === null
        ? []
        : [
            {
              device_id: move.device_id,
              check_id: move.check_id,
              occurred_at: at,
              from_status: move.from_status,
              to_status: move.to_status,
              revision: move.revision,
              initiating_entity: cause.initiatingEntity,
              actor_name: change.origin.actor.name,
              reason: cause.reason,
              rows: null,
              txn: change.txn,
            },
          ],
    ),
  )
  const left = moves.filter((move) => move.to_status === 'out_of_scope')
  await resolveIssuesOutOfScope(tx, left, at)
  await refreshBlockingTimes(tx, selection, at)
  await moveCheckCounters(tx, toCounterDeltas(moves))
  const affected = await listDevicesInScope(tx, selection)
  const touched = [...affected, ...left.map((move) => move.device_id)]
  await reevaluateDevices(change, deps, touched, {
    initiatingEntity: cause.initiatingEntity,
    occurredAt: at,
  })
}

function toCounterDeltas(moves: readonly ScopeMove[]): CounterDelta[] {
  const counts = new Map<string, CounterDelta>()
  const add = (delta: CounterDelta) => {
    const key = `${delta.check_id} ${delta.stripe} ${delta.status}`
    counts.set(key, { ...delta, delta: delta.delta + (counts.get(key)?.delta ?? 0) })
  }
  for (const { device_id, check_id, from_status, to_status } of moves) {
    const place = { check_id, stripe: toCounterStripe(device_id) }
    add({ ...place, status: to_status, delta: 1 })
    if (from_status !== null) add({ ...place, status: from_status, delta: -1 })
  }
  return [...counts.values()]
}
