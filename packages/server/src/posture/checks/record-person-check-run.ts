import type { Change } from '../../changes/change.ts'
import { lockDevices, type LockedDevice } from '../devices/device-status-store.ts'
import { listDeviceIdsOfOwner } from '../devices/device-store.ts'
import { assertNoneGained } from '../devices/end-registrations.ts'
import { reevaluateLockedDevices } from '../devices/reevaluate-devices.ts'
import { settleDueStatuses } from '../devices/settle-due-statuses.ts'
import { listOpenIssues, updateSubjectIssues } from '../issues/issue-store.ts'
import { recordIssueEvents } from '../issues/record-issue-events.ts'
import { findPerson, lockPerson } from '../../people/people/person-store.ts'
import { notFound } from '../../platform/app-error.ts'
import type { PostureCheck } from './catalogue-store.ts'
import { moveCheckCounters } from './check-counter-store.ts'
import type { DeviceCheck } from './check-result-store.ts'
import { judgeCheckResult, toCounterDeltas } from './judge-check-result.ts'
import type { ParsedCheckResult } from './parse-check-result.ts'
import { findPersonCheckResult, upsertPersonCheckResult } from './person-check-result-store.ts'

/**
 * Records what another system says of a person: the result, the issues of the person, the counters,
 * and the statuses of all devices that are registered to the person, for which these issues count as
 * their own do. All of it or nothing.
 *
 * @throws AppError `not_found` for a person who has been deprovisioned meanwhile
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
  const stored = (await findPersonCheckResult(tx, personId, check.id)) ?? null
  const openIssues = await listOpenIssues(tx, 'person', [
    { subjectId: personId, checkId: check.id },
  ])
  const judgement = judgeCheckResult(toPersonCheck(check, stored), parsed, openIssues, at)
  await upsertPersonCheckResult(tx, personId, judgement.result, at)
  const issueChanges = { ...judgement.issues, subjectId: personId, followsRound: false }
  const opened = await updateSubjectIssues(tx, 'person', [issueChanges], at)
  const openedIds = opened.map(({ id }) => id)
  recordIssueEvents(change, { openedIds, resolvedIds: judgement.issues.resolvedIds }, at)
  await moveCheckCounters(tx, toCounterDeltas(judgement))
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
  const person = await findPerson(tx, personId)
  if (person === undefined || person.deprovisionedAt !== null) throw notFound('person', personId)
  await assertNoneGained(tx, personId, known)
  return devices
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
