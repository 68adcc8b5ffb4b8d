import type { Change } from '../../changes/change.ts'
import { listDeviceIds } from '../devices/device-store.ts'
import { lockDeviceRows } from '../devices/device-status-store.ts'
import { reevaluateDevices, type StatusCause } from '../devices/reevaluate-devices.ts'
import { endExemptions } from '../issues/issue-store.ts'
import { recordIssueEvents } from '../issues/record-issue-events.ts'
import { moveCheckCounters, type CounterDelta } from './check-counter-store.ts'
import { insertCheckTransitions } from './check-result-store.ts'
import {
  listDevicesInScope,
  lockCheckScope,
  moveResultsIntoScope,
  refreshBlockingTimes,
  refreshPersonBlockingTimes,
  resolveIssuesOutOfScope,
  type ScopeMove,
  type ScopeSelection,
} from './check-scope-store.ts'

/** Why the scope changed, as statuses and the history of results tell it. */
export type ScopeCause = Pick<StatusCause, 'initiatingEntity'> & { readonly reason: string }

/** A change to a check, or a change to devices. */
export type ChangedScope =
  | { readonly checkIds: readonly string[]; readonly deviceIds?: undefined }
  | { readonly checkIds?: undefined; readonly deviceIds: readonly string[] }

/** Devices that one round of statements works on. */
const BATCH_SIZE = 500

/**
 * Makes results, issues, counters and device statuses follow from who is targeted and what the checks
 * are configured to do. To be called in the change that touches any of it: with `checkIds` after a
 * check was created, configured, paused, revised or retired; with `deviceIds` after a device enrolled
 * or moved between groups. Idempotent.
 *
 * Issues of results that leave the scope are resolved. What a configuration does to issues that are
 * open already counts at once, in this change and at its time. Works through the devices in batches:
 * memory and statements are bounded however many there are. A changed check locks them all, so that
 * no report is judged by a configuration that is about to end.
 */
export async function applyCheckScope(
  change: Change,
  scope: ChangedScope,
  cause: ScopeCause,
): Promise<void> {
  const counters = new Map<string, CounterDelta>()
  if (scope.deviceIds === undefined) {
    await lockCheckScope(change.tx)
    await lockDeviceRows(change.tx)
    await refreshPersonBlockingTimes(change.tx, scope.checkIds, change.at)
    for await (const deviceIds of listAllDevices(change)) {
      const selection = { checkIds: scope.checkIds, deviceIds }
      await applyToBatch(change, { selection, cause, counters })
    }
  } else {
    // Reports hold the lock of their device: what they read of a result must not move beneath them.
    await lockDeviceRows(change.tx, scope.deviceIds)
    for (let start = 0; start < scope.deviceIds.length; start += BATCH_SIZE) {
      const deviceIds = scope.deviceIds.slice(start, start + BATCH_SIZE)
      await applyToBatch(change, { selection: { deviceIds }, cause, counters })
    }
  }
  // Reports take these locks after that of their device: once all devices are locked, nobody waits in a ring.
  await moveCheckCounters(change.tx, [...counters.values()])
}

async function* listAllDevices({ tx }: Change): AsyncGenerator<string[]> {
  let afterId = '0'
  for (;;) {
    const ids = await listDeviceIds(tx, afterId, BATCH_SIZE)
    const last = ids.at(-1)
    if (last === undefined) return
    yield ids
    afterId = last
  }
}

interface Batch {
  readonly selection: ScopeSelection
  readonly cause: ScopeCause
  /** Gathers how the counters move over all batches. */
  readonly counters: Map<string, CounterDelta>
}

async function applyToBatch(change: Change, { selection, cause, counters }: Batch): Promise<void> {
  const { tx, at } = change
  const moves = await moveResultsIntoScope(tx, selection, at)
  await insertCheckTransitions(
    tx,
    moves.flatMap((move) => toTransition(change.ofDevice(move.device_id), move, cause)),
  )
  const left = moves.filter((move) => move.to_status === 'out_of_scope')
  for (const { id, deviceId } of await resolveIssuesOutOfScope(tx, left, at)) {
    recordIssueEvents(change.ofDevice(deviceId), { openedIds: [], resolvedIds: [id] }, at)
  }
  await refreshBlockingTimes(tx, selection, at)
  await endExemptions(tx, selection.deviceIds, at)
  addCounterDeltas(counters, moves)
  const affected = await listDevicesInScope(tx, selection)
  await reevaluateDevices(change, [...affected, ...left.map((move) => move.device_id)], {
    initiatingEntity: cause.initiatingEntity,
    occurredAt: at,
  })
}

function toTransition(change: Change, move: ScopeMove, cause: ScopeCause) {
  if (move.from_status === null) return []
  return [
    {
      device_id: move.device_id,
      check_id: move.check_id,
      occurred_at: change.at,
      from_status: move.from_status,
      to_status: move.to_status,
      revision: move.revision,
      initiating_entity: cause.initiatingEntity,
      actor_name: change.origin.actor.name,
      reason: cause.reason,
      rows: null,
      txn: change.txn,
    },
  ]
}

function addCounterDeltas(counters: Map<string, CounterDelta>, moves: readonly ScopeMove[]): void {
  const add = (delta: CounterDelta) => {
    const key = `${delta.check_id} ${delta.status}`
    counters.set(key, { ...delta, delta: delta.delta + (counters.get(key)?.delta ?? 0) })
  }
  for (const { check_id, from_status, to_status } of moves) {
    add({ check_id, status: to_status, delta: 1 })
    if (from_status !== null) add({ check_id, status: from_status, delta: -1 })
  }
}
