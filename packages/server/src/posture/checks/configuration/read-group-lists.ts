import type { Kysely } from 'kysely'
import { AppError, type ErrorDetail } from '../../../platform/app-error.ts'
import type { Schema } from '../../../schema/schema.ts'
import type { ConfigurationInput } from './check-configuration-input.ts'
import { GROUP_PLATFORMS } from './check-configuration-json.ts'
import {
  listDeviceGroupNames,
  listKnownGroupIds,
  type GroupHold,
  type GroupReference,
  type GroupRule,
} from './check-configuration-store.ts'

/** The name of each list of groups on the wire. */
export const GROUP_LIST_NAMES = {
  targeted: 'targeted_groups',
  excluded: 'excluded_groups',
  blocking_allowed: 'blocking_allowed_groups',
  blocking_excluded: 'blocking_excluded_groups',
} as const satisfies Record<GroupRule, keyof ConfigurationInput>

const GROUP_ID = /^[1-9]\d{0,17}$/

/** Whether a text names a device group, and not a platform. */
export function isGroupId(text: string): boolean {
  return GROUP_ID.test(text)
}

/** How many groups a refusal names. */
const NAMED_GROUPS_MAX = 20

/**
 * The lists of groups that an input gives, without repetitions. Groups that are held cannot be deleted
 * until the transaction ends.
 *
 * @throws AppError `invalid_body` naming every group that does not exist, and those that do
 */
export async function readGroupLists(
  db: Kysely<Schema>,
  input: ConfigurationInput,
  hold: GroupHold,
): Promise<Partial<Record<GroupRule, readonly GroupReference[]>>> {
  const given = Object.entries(GROUP_LIST_NAMES).flatMap(([rule, name]) => {
    const texts = input[name]
    return texts === undefined ? [] : [{ rule: rule as GroupRule, name, texts }]
  })
  const ids = given.flatMap(({ texts }) => texts.filter(isGroupId))
  const known = ids.length === 0 ? new Set<string>() : await listKnownGroupIds(db, ids, hold)
  const unknown: { path: string; text: string }[] = []
  const lists: Partial<Record<GroupRule, readonly GroupReference[]>> = {}
  for (const { rule, name, texts } of given) {
    lists[rule] = [...new Set(texts)].flatMap((text) => {
      const group = toGroup(text, known)
      if (group === undefined) unknown.push({ path: `${name}.${texts.indexOf(text)}`, text })
      return group ?? []
    })
  }
  if (unknown.length > 0) throw unknownGroups(unknown, await describeAllowed(db))
  return lists
}

function toGroup(text: string, known: ReadonlySet<string>): GroupReference | undefined {
  if (known.has(text)) return { kind: 'group', id: text }
  if (!Object.hasOwn(GROUP_PLATFORMS, text)) return undefined
  return { kind: 'platform', platform: GROUP_PLATFORMS[text as keyof typeof GROUP_PLATFORMS] }
}

async function describeAllowed(db: Kysely<Schema>): Promise<string> {
  const groups = await listDeviceGroupNames(db, NAMED_GROUPS_MAX + 1)
  const named = groups.slice(0, NAMED_GROUPS_MAX).map(({ id, name }) => `${id} (${name})`)
  const platforms = Object.keys(GROUP_PLATFORMS)
  const more = groups.length > NAMED_GROUPS_MAX ? ' and other device groups' : ''
  return `Allowed: ${[...platforms, ...named].join(', ')}${more}.`
}

function unknownGroups(
  unknown: readonly { readonly path: string; readonly text: string }[],
  allowed: string,
): AppError {
  const details: ErrorDetail[] = unknown.map(({ path, text }) => ({
    path,
    message: `There is no group "${text}". ${allowed}`,
  }))
  const names = unknown.map(({ text }) => `"${text}"`).join(', ')
  return new AppError('invalid_body', `These groups do not exist: ${names}. ${allowed}`, {
    details,
  })
}
