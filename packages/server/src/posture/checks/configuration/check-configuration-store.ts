import { sql, type Kysely, type Transaction } from 'kysely'
import { notFound } from '../../../platform/app-error.ts'
import { findRecord } from '../../../platform/db/record-table.ts'
import type { Schema } from '../../../schema/schema.ts'
import type { PostureCheck } from '../catalogue-store.ts'

/** What a list of groups decides. */
export type GroupRule = Schema['check_group_rule']['rule']

/** A group as configurations name it: the id of a device group, or a platform. */
export type GroupReference =
  | { readonly kind: 'group'; readonly id: string }
  | { readonly kind: 'platform'; readonly platform: 'darwin' | 'windows' | 'linux' }

/** The groups of every list, each in the order that it was written in. */
export type GroupLists = Readonly<Record<GroupRule, readonly GroupReference[]>>

/** A check with its groups: all that its configuration consists of. */
export interface CheckConfiguration {
  readonly check: PostureCheck
  readonly groups: GroupLists
}

/**
 * The configuration of a check; `isLocked` holds it until the transaction ends. The id is a decimal
 * number within bigint.
 *
 * @throws AppError `not_found`
 */
export async function getCheckConfiguration(
  db: Kysely<Schema>,
  checkId: string,
  options: { readonly isLocked?: boolean } = {},
): Promise<CheckConfiguration> {
  const check = await findRecord(
    db
      .selectFrom('posture_check')
      .selectAll()
      .where('id', '=', checkId)
      .$if(options.isLocked === true, (query) => query.forNoKeyUpdate()),
  )
  if (check === undefined) throw notFound('check', checkId)
  return { check, groups: await listGroups(db, checkId) }
}

async function listGroups(db: Kysely<Schema>, checkId: string): Promise<GroupLists> {
  const rules = await db
    .selectFrom('check_group_rule')
    .select(['rule', 'device_group_id', 'platform'])
    .where('check_id', '=', checkId)
    .orderBy('id')
    .execute()
  const lists: Record<GroupRule, GroupReference[]> = {
    targeted: [],
    excluded: [],
    blocking_allowed: [],
    blocking_excluded: [],
  }
  for (const { rule, device_group_id: id, platform } of rules) {
    if (id !== null) lists[rule].push({ kind: 'group', id })
    else if (platform !== null) lists[rule].push({ kind: 'platform', platform })
  }
  return lists
}

/** Replaces one list of groups of a check. */
export async function replaceGroups(
  tx: Transaction<Schema>,
  checkId: string,
  rule: GroupRule,
  groups: readonly GroupReference[],
): Promise<void> {
  await tx
    .deleteFrom('check_group_rule')
    .where('check_id', '=', checkId)
    .where('rule', '=', rule)
    .execute()
  if (groups.length === 0) return
  await tx
    .insertInto('check_group_rule')
    .values(
      groups.map((group) => ({
        check_id: checkId,
        rule,
        device_group_id: group.kind === 'group' ? group.id : null,
        platform: group.kind === 'platform' ? group.platform : null,
      })),
    )
    .execute()
}

/** Whether groups are kept from being deleted. */
export interface GroupHold {
  readonly isHeld: boolean
}

/** A device group by id and name. */
export interface NamedGroup {
  readonly id: string
  readonly name: string
}

/**
 * Which of the ids are those of device groups; with `isHeld` these groups cannot be deleted until the transaction
 * ends.
 */
export async function listKnownGroupIds(
  db: Kysely<Schema>,
  ids: readonly string[],
  { isHeld }: GroupHold,
): Promise<Set<string>> {
  const rows = await db
    .selectFrom('device_group')
    .select('id')
    .where(sql<boolean>`id = any(${ids}::bigint[])`)
    .orderBy('id')
    .$if(isHeld, (query) => query.forKeyShare())
    .execute()
  return new Set(rows.map((row) => row.id))
}

/** The first device groups by ascending id, to tell what may be named. */
export async function listDeviceGroupNames(
  db: Kysely<Schema>,
  limit: number,
): Promise<NamedGroup[]> {
  return db.selectFrom('device_group').select(['id', 'name']).orderBy('id').limit(limit).execute()
}
