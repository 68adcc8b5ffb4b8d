/*
 * What a configuration of a check would do: which devices would move from which status to which, and how many
 * are at which stage before and after. The statuses are derived as they are for real, by evaluateDevice; only the
 * issues of this check, and whether devices owe it an answer, are as the configuration would have them.
 */
import { setImmediate } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { changedMembers } from '../../../../changes/changed-members.ts'
import type { Schema } from '../../../../schema/schema.ts'
import type { AuthState, Compliance } from '../../../../schema/status-values.ts'
import type { Platform } from '../../../../schema/tables/device-tables.ts'
import type { DeviceEvaluation } from '../../../devices/evaluate-device-status.ts'
import {
  listDevicesWithPendingChecks,
  listStatusDevices,
  type LockedDevice,
} from '../../../devices/device-status-store.ts'
import { evaluateDevice } from '../../../devices/reevaluate-devices.ts'
import { readStatusFacts, type StatusFacts } from '../../../devices/status-facts.ts'
import type { ConfigurationInput } from '../check-configuration-input.ts'
import { toSettings } from '../check-configuration-json.ts'
import { getCheckConfiguration, type CheckConfiguration } from '../check-configuration-store.ts'
import { readGroupLists } from '../read-group-lists.ts'
import { toWantedConfiguration } from '../wanted-configuration.ts'
import { IMPACT_STAGES, toImpactStage, toStageTimes, type ImpactStage } from './impact-stage.ts'
import {
  compareScopes,
  countMovesByGroup,
  countStates,
  listDependentDeviceIds,
  listDevicesOwingAsConfigured,
  listIssuesAsConfigured,
  type GroupMove,
  type ScopeDifference,
} from './preview-store.ts'

/** The status of a device as far as a configuration changes it. */
export interface PreviewedStatus {
  readonly authState: AuthState
  readonly compliance: Compliance
  readonly willBlockAt: Date | null
}

/** A device whose status would change. */
export interface PreviewedMove {
  readonly deviceId: string
  readonly deviceName: string
  readonly platform: Platform
  readonly ownerPersonId: string | null
  readonly ownerEmail: string | null
  readonly from: PreviewedStatus
  readonly to: PreviewedStatus
}

/** What a configuration would do. */
export interface ConfigurationImpact {
  /** The members that would change. */
  readonly changedNames: readonly string[]
  readonly scope: ScopeDifference
  /** Of all devices. */
  readonly stages: readonly {
    readonly stage: ImpactStage
    readonly current: number
    readonly proposed: number
  }[]
  /** By ascending id of the device. */
  readonly moves: readonly PreviewedMove[]
  readonly groupMoves: readonly GroupMove[]
}

/** Devices that are read by one statement, and compared before others have their turn. */
const BATCH_SIZE = 500
const GROUPS_MAX = 100
/** What decides which devices run a check, as far as it is configured. */
const SCOPE_NAMES: ReadonlySet<string> = new Set(['paused', 'targeted_groups', 'excluded_groups'])

/**
 * Previews a configuration, in one snapshot. Writes nothing and locks nothing.
 *
 * @throws AppError `not_found`; `invalid_body` for groups that do not exist
 */
export async function previewConfiguration(
  db: Kysely<Schema>,
  checkId: string,
  input: ConfigurationInput,
  now: Date,
): Promise<ConfigurationImpact> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      const present = await getCheckConfiguration(tx, checkId)
      const lists = await readGroupLists(tx, input, { isHeld: false })
      const wanted = toWantedConfiguration(present, { input, lists, at: now, actorName: '' })
      const { names } = changedMembers(toSettings(present), toSettings(wanted))
      const compared = await compareDevices(tx, wanted, now)
      const moves = compared.filter(isMove)
      return {
        changedNames: names,
        scope: names.some((name) => SCOPE_NAMES.has(name))
          ? await compareScopes(tx, present, wanted)
          : { gained: 0, lost: 0 },
        stages: await countStages(tx, compared, now),
        moves,
        groupMoves: await countMovesByGroup(tx, moves.map(toStates), GROUPS_MAX),
      }
    })
}

/** A device with what is stored of it, what is so at present, and what would be. */
interface ComparedDevice extends PreviewedMove {
  readonly stored: PreviewedStatus
}

async function compareDevices(
  db: Kysely<Schema>,
  wanted: CheckConfiguration,
  now: Date,
): Promise<ComparedDevice[]> {
  const ids = await listDependentDeviceIds(db, wanted.check.id, now)
  const compared: ComparedDevice[] = []
  for (let start = 0; start < ids.length; start += BATCH_SIZE) {
    await setImmediate()
    const devices = await listStatusDevices(db, ids.slice(start, start + BATCH_SIZE))
    const facts = await readStatusFacts(db, devices)
    const wantedFacts = await readWantedFacts(db, wanted, devices, facts)
    for (const device of devices) {
      const from = toStatus(evaluateDevice(device, facts, now).evaluation)
      const to = toStatus(evaluateDevice(device, wantedFacts, now).evaluation)
      compared.push({ ...toIdentity(device), stored: toStatus(device), from, to })
    }
  }
  return compared
}

/** The facts with what concerns the check replaced by what its configuration would make of it. */
async function readWantedFacts(
  db: Kysely<Schema>,
  wanted: CheckConfiguration,
  devices: readonly LockedDevice[],
  facts: StatusFacts,
): Promise<StatusFacts> {
  const { id: checkId } = wanted.check
  const deviceIds = devices.map(({ id }) => id)
  const issues = await listIssuesAsConfigured(db, wanted, deviceIds)
  const issuesByDevice = Map.groupBy(issues, (issue) => issue.deviceId)
  const newIds = devices.filter(({ evaluatedAt }) => evaluatedAt === null).map(({ id }) => id)
  const owing = await listDevicesOwingAsConfigured(db, wanted, newIds)
  const owingOthers =
    newIds.length === 0
      ? new Set<string>()
      : await listDevicesWithPendingChecks(db, newIds, checkId)
  return {
    issuesOf: (device) => [
      ...facts.issuesOf(device).filter((issue) => issue.checkId !== checkId),
      ...(issuesByDevice.get(device.id) ?? []),
    ],
    isEvaluated: ({ id, evaluatedAt }) =>
      evaluatedAt !== null || !(owing.has(id) || owingOthers.has(id)),
  }
}

/** All devices by stage: those that do not depend on the check are at the same before and after. */
async function countStages(
  db: Kysely<Schema>,
  compared: readonly ComparedDevice[],
  now: Date,
): Promise<ConfigurationImpact['stages']> {
  const of = () => new Map<ImpactStage, number>(IMPACT_STAGES.map((stage) => [stage, 0]))
  const current = of()
  const proposed = of()
  const add = (counts: Map<ImpactStage, number>, status: PreviewedStatusTime, count: number) => {
    const stage = toImpactStage(status, now)
    counts.set(stage, (counts.get(stage) ?? 0) + count)
  }
  for (const { count, ...state } of await countStates(db, toStageTimes(now))) {
    add(current, state, count)
    add(proposed, state, count)
  }
  for (const { stored, from, to } of compared) {
    add(current, stored, -1)
    add(current, from, 1)
    add(proposed, stored, -1)
    add(proposed, to, 1)
  }
  return IMPACT_STAGES.map((stage) => ({
    stage,
    current: current.get(stage) ?? 0,
    proposed: proposed.get(stage) ?? 0,
  }))
}

type PreviewedStatusTime = Pick<PreviewedStatus, 'authState' | 'willBlockAt'>

function isMove({ from, to }: PreviewedMove): boolean {
  return (
    from.authState !== to.authState ||
    from.compliance !== to.compliance ||
    from.willBlockAt?.getTime() !== to.willBlockAt?.getTime()
  )
}

function toStates({ deviceId, from, to }: PreviewedMove) {
  return { deviceId, from: from.authState, to: to.authState }
}

function toStatus(evaluation: Pick<DeviceEvaluation, keyof PreviewedStatus>): PreviewedStatus {
  const { authState, compliance, willBlockAt } = evaluation
  return { authState, compliance, willBlockAt }
}

function toIdentity({ id, name, platform, ownerPersonId, ownerEmail }: LockedDevice) {
  return { deviceId: id, deviceName: name, platform, ownerPersonId, ownerEmail }
}
