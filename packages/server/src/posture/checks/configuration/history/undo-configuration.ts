/*
 * Takes back the last change of a configuration while it is fresh. What follows from it is that of any change.
 */
import { AppError } from '../../../../platform/app-error.ts'
import { HOUR_MS } from '../../../../platform/clock.ts'
import type { Change } from '../../../../changes/change.ts'
import { lockCheckScope } from '../../check-scope-store.ts'
import { configureCheckBody, type ConfigurationInput } from '../check-configuration-input.ts'
import {
  getCheckConfiguration,
  listKnownGroupIds,
  type CheckConfiguration,
} from '../check-configuration-store.ts'
import { configureCheck } from '../configure-check.ts'
import { GROUP_LIST_NAMES, isGroupId } from '../read-group-lists.ts'
import {
  findLastConfigurationChange,
  type ConfigurationChange,
} from './configuration-change-store.ts'

/** For how long a change can be taken back. */
const UNDO_MS = HOUR_MS

/** Until when a change can be taken back; null for one that another has followed. */
export function toUndoEnd(change: ConfigurationChange): Date | null {
  if (change.revision !== change.presentRevision) return null
  return new Date(change.changedAt.getTime() + UNDO_MS)
}

/**
 * Gives a check the configuration back that it had before its last change. Groups that were deleted since are
 * left out. Taking back is a change itself, and can be taken back.
 *
 * @param revision the change that is meant; the last one where none is named
 * @throws AppError `not_found`; `conflict` where nothing has changed within the hour, or another change has followed
 */
export async function undoConfiguration(
  change: Change,
  checkId: string,
  revision?: number,
): Promise<CheckConfiguration> {
  const { tx, at } = change
  await lockCheckScope(tx)
  const { check } = await getCheckConfiguration(tx, checkId)
  const last = await findLastConfigurationChange(tx, checkId)
  const end = last === undefined ? null : toUndoEnd(last)
  if (last === undefined || end === null || end < at) {
    throw new AppError(
      'conflict',
      `The configuration of ${check.name} has not changed within the last hour: there is nothing to undo.`,
    )
  }
  if (revision !== undefined && revision !== last.revision) {
    throw new AppError(
      'conflict',
      `The last change of ${check.name} is revision ${last.revision}, not ${revision}: look at it before you take it back.`,
    )
  }
  const input = await withoutLostGroups(change, configureCheckBody.parse(last.before))
  return configureCheck(change, checkId, input, last.revision)
}

async function withoutLostGroups(
  { tx }: Change,
  input: ConfigurationInput,
): Promise<ConfigurationInput> {
  const names = Object.values(GROUP_LIST_NAMES)
  const ids = names.flatMap((name) => input[name] ?? []).filter(isGroupId)
  const known = await listKnownGroupIds(tx, ids, { isHeld: true })
  const lists = names.flatMap((name) => {
    const texts = input[name]
    if (texts === undefined) return []
    return [[name, texts.filter((text) => !isGroupId(text) || known.has(text))] as const]
  })
  return { ...input, ...Object.fromEntries(lists) }
}
