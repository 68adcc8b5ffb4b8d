import type { Change } from '../../changes/change.ts'
import { lockDevices, type LockedDevice } from '../devices/device-status-store.ts'
import { listDeviceIdsOfOwner } from '../devices/device-store.ts'
import { reevaluateLockedDevices } from '../devices/reevaluate-devices.ts'
import { settleDueStatuses } from '../devices/settle-due-statuses.ts'
import { listOpenIssues, updateSubjectIssues } from '../issues/issue-store.ts'
import { recordIssueEvents } from '../issues/record-issue-events.ts'
import { lockPerson } from '../../people/people/person-store.ts'
import type { PostureCheck } from './catalogue-store.ts'
import { moveCheckCounters, toCounterStripe, type CounterDelta } from './check-counter-store.ts'
import type { DeviceCheck } from './check-result-store.ts'
import { judgeCheckResult, type Judgement } from './judge-check-result.ts'
import type { ParsedCheckResult } from './parse-check-result.ts'
import { findPersonCheckResult, upsertPersonCheckResult } from './person-check-result-store.ts'

/**
 * Records what another system says of a person: the result, the issues of the person, the counters,
 * and the statuses of all devices that are registered to the person, for which these issues count as
 * their own do. All of it or nothing.
 */
export async function recordPersonCheckRun(
  change: Change,
  check: PostureCheck,
  run: { readonly personId: string; readonly parsed: ParsedCheckResult },
): Promise<void> {
  const { tx } = change
  const { personId, parsed } = run
  const devices = await lockDevicesOfPerson(change, personId)
  const at = change.now()
  const settled = await settleDueStatuses(change, devices, at)
  const subject = { kind: 'person', id: personId } as const
  const stored = (await findPersonCheckResult(tx, personId, check.id)) ?? null
  const openIssues = await listOpenIssues(tx, subject, [check.id])
  const judgement = judgeCheckResult(toPersonCheck(check, stored), parsed, openIssues, at)
  await upsertPersonCheckResult(tx, personId, judgement.result, at)
  const openedIds = await updateSubjectIssues(tx, subject, judgement.issues, {
    at,
    followsRound: false,
  })
  recordIssueEvents(change, { openedIds, resolvedIds: judgement.issues.resolvedIds }, at)
  await moveCheckCounters(tx, toCounterDeltas(personId, judgement))
  await reevaluateLockedDevices(change, settled, {
    initiatingEntity: 'policy',
    occurredAt: at,
  })
}

/** Devices before people: so every change locks them. Afterwards nobody gets or loses a device. */
async function lockDevicesOfPerson(change: Change, personId: string): Promise<LockedDevice[]> {
  const { tx } = change
  const known = await listDeviceIdsOfOwner(tx, personId)
  const devices = await lockDevices(tx, known)
  await lockPerson(tx, personId)
  const present = await listDeviceIdsOfOwner(tx, personId)
  const gained = present.filter((id) => !known.includes(id))
  return gained.length === 0 ? devices : [...devices, ...(await lockDevices(tx, gained))]
}

/** Groups of devices aim a check at devices and spare devices; people are all meant, none is spared. */
function toPersonCheck(check: PostureCheck, stored: DeviceCheck['stored']): DeviceCheck {
  return {
    checkId: check.id,
    name: check.name,
    issueTitle: check.issueTitle,
    type: check.type,
    revision: check.revision,
    primaryKeyColumn: check.primaryKeyColumn,
    strategy: check.remediationStrategy,
    gracePeriodDays: check.gracePeriodDays,
    beginsBlockingOn: check.beginsBlockingOn,
    isPaused: check.pausedAt !== null,
    isTargeted: true,
    isBlockingAllowed: true,
    stored,
  }
}

function toCounterDeltas(personId: string, judgement: Judgement): CounterDelta[] {
  const { previousStatus, result } = judgement
  if (previousStatus === result.status) return []
  const place = { check_id: result.check_id, stripe: toCounterStripe(personId) }
  const gained = { ...place, status: result.status, delta: 1 }
  return previousStatus === null
    ? [gained]
    : [{ ...place, status: previousStatus, delta: -1 }, gained]
}
