/*
 * The changes of status that time alone brings about: the ends of grace periods and exemptions, each at its
 * own time. Owns their order; what a status follows from is evaluate-device-status.ts.
 */
import type { Change } from '../../changes/change.ts'
import { endExemptions } from '../issues/issue-store.ts'
import { changeDeviceStatuses, evaluateDevice } from './reevaluate-devices.ts'
import { listDueDeviceIds, lockDevices, type LockedDevice } from './device-status-store.ts'
import { readStatusFacts } from './status-facts.ts'

/** How many devices are read and written by one statement. */
const BATCH_SIZE = 500

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
  const facts = await readStatusFacts(change.tx, due)
  while (due.length > 0) {
    const evaluated = due.map((device) =>
      evaluateDevice(device, facts, device.reevaluateAt ?? until),
    )
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
