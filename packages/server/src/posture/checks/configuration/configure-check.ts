/*
 * Changes how a check is configured. Owns that everything which follows from it follows in the same
 * change; what follows is decided in apply-check-scope.ts and devices/.
 */
import type { RecordChanges } from '../../../schema/define-table.ts'
import type { Change } from '../../../changes/change.ts'
import { changedMembers } from '../../../changes/changed-members.ts'
import { lockDeviceRows } from '../../devices/device-status-store.ts'
import { settleEveryDueStatus } from '../../devices/settle-due-statuses.ts'
import { applyCheckScope } from '../apply-check-scope.ts'
import { updateCheck } from '../catalogue-store.ts'
import { lockCheckScope } from '../check-scope-store.ts'
import type { ConfigurationInput } from './check-configuration-input.ts'
import { toSettings } from './check-configuration-json.ts'
import {
  getCheckConfiguration,
  replaceGroups,
  type CheckConfiguration,
  type GroupRule,
} from './check-configuration-store.ts'
import { insertConfigurationChange } from './history/configuration-change-store.ts'
import { readGroupLists } from './read-group-lists.ts'
import { toWantedConfiguration } from './wanted-configuration.ts'

/** Settings that decide neither which devices run the check nor what its issues do to them. */
const SETTINGS_WITHOUT_EFFECT_ON_DEVICES = new Set([
  'auth_check_run_shelf_life_seconds',
  'snooze_disallowed',
  'exemptions_disallowed',
  'options',
])

/**
 * Changes what is given of a configuration, raises its revision, and makes results, issues, blocking
 * times, counters and device statuses follow in the open change. A change of nothing does nothing.
 * Exemptions that were granted before a check disallows them stay.
 *
 * With `undoesRevision` the change takes back the one that led to that revision.
 *
 * A change that concerns devices locks them all; grace periods that ended before it are settled
 * first, each at its own time.
 *
 * @throws AppError `not_found`; `invalid_body` for groups that do not exist
 */
export async function configureCheck(
  change: Change,
  checkId: string,
  input: ConfigurationInput,
  undoesRevision: number | null = null,
): Promise<CheckConfiguration> {
  const { tx } = change
  await lockCheckScope(tx)
  const before = await getCheckConfiguration(tx, checkId, { isLocked: true })
  const lists = await readGroupLists(tx, input, { isHeld: true })
  const wanted = toWantedConfiguration(before, {
    input,
    lists,
    at: change.at,
    actorName: change.origin.actor.name,
  })
  const changed = changedMembers(toSettings(before), toSettings(wanted))
  if (changed.names.length === 0) return before

  const concernsDevices = changed.names.some(
    (name) => !SETTINGS_WITHOUT_EFFECT_ON_DEVICES.has(name),
  )
  if (concernsDevices) {
    await lockDeviceRows(tx)
    await settleEveryDueStatus(change)
  }
  await updateCheck(tx, checkId, toColumns(wanted))
  for (const [rule, groups] of Object.entries(lists)) {
    await replaceGroups(tx, checkId, rule as GroupRule, groups)
  }
  const { check } = before
  change.recordAudit({
    action: 'check.configured',
    target: { type: 'check', id: check.id },
    description: `${undoesRevision === null ? 'changed' : 'undid a change of'} the configuration of ${check.name}: ${changed.names.join(', ')}`,
    before: { ...changed.before, revision: check.configurationRevision },
    after: { ...changed.after, revision: wanted.check.configurationRevision },
  })
  await insertConfigurationChange(change, {
    checkId,
    revision: wanted.check.configurationRevision,
    ...{ before: changed.before, after: changed.after, undoesRevision },
  })
  if (concernsDevices) {
    await applyCheckScope(
      change,
      { checkIds: [checkId] },
      {
        initiatingEntity: 'admin',
        reason: `The configuration of ${check.name} changed.`,
      },
    )
  }
  return wanted
}

function toColumns({ check }: CheckConfiguration): RecordChanges<'posture_check'> {
  return {
    pausedAt: check.pausedAt,
    pausedBy: check.pausedBy,
    remediationStrategy: check.remediationStrategy,
    rolloutPercent: check.rolloutPercent,
    gracePeriodDays: check.gracePeriodDays,
    beginsBlockingOn: check.beginsBlockingOn,
    shelfLifeSeconds: check.shelfLifeSeconds,
    snoozeDisallowed: check.snoozeDisallowed,
    exemptionsDisallowed: check.exemptionsDisallowed,
    options: JSON.stringify(check.options),
    configurationRevision: check.configurationRevision,
    updatedAt: check.updatedAt,
  }
}
