import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import type { CheckStatus } from '../../schema/status-values.ts'
import { lockInTransaction, shareLockInTransaction } from '../../platform/db/advisory-lock.ts'
import { LOCK_KEYS } from '../../schema/lock-keys.ts'

/*
 * Which checks run on which devices, as SQL over `posture_check c` and `device d`.
 */

function groupRule(rule: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from check_group_rule g
    where g.check_id = c.id and g.rule = ${sql.lit(rule)} and (
      g.platform = d.platform
      or exists (select from device_group_member m
                 where m.device_group_id = g.device_group_id and m.device_id = d.id)))`
}

function hasRule(rule: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from check_group_rule g where g.check_id = c.id and g.rule = ${sql.lit(rule)})`
}

/**
 * Whether check `c` targets device `d`: its platform has SQL (checks that other systems report need
 * none), it is in a targeted group where there are any, and in no excluded one.
 */
export const IS_TARGETED = sql<boolean>`(
  c.target_type = 'devices' and d.platform = any(c.platforms)
  and (c.type = 'external' or d.platform = any(c.query_platforms))
  and (not ${hasRule('targeted')} or ${groupRule('targeted')})
  and not ${groupRule('excluded')})`

/** Of which hundredth of all devices one is, from 0 on; it follows from its id alone. */
export function hundredthOf(deviceId: RawBuilder<unknown>): RawBuilder<number> {
  const hash = sql`sha256(int8send(${deviceId}))`
  return sql<number>`((get_byte(${hash}, 0) * 256 + get_byte(${hash}, 1)) % 100)`
}

/**
 * Whether the strategy of check `c` holds for a device: it is among the share that the check is rolled out to, of which
 * a larger one holds all of a smaller one. People are all meant.
 */
export function isRolledOut(deviceId: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(c.rollout_percent = 100 or c.target_type = 'people'
    or ${hundredthOf(deviceId)} < c.rollout_percent)`
}

/** Whether an issue of check `c` may block device `d`, as far as its groups decide it. */
export const IS_BLOCKING_IN_GROUPS = sql<boolean>`(
  (not ${hasRule('blocking_allowed')} or ${groupRule('blocking_allowed')})
  and not ${groupRule('blocking_excluded')})`

/** Whether an issue of check `c` may block device `d`, as far as its groups and its share decide it. */
export const IS_BLOCKING_ALLOWED = sql<boolean>`(
  ${isRolledOut(sql`d.id`)} and ${IS_BLOCKING_IN_GROUPS})`

/** A part of the product of checks and devices; without `checkIds` all checks. */
export interface ScopeSelection {
  readonly checkIds?: readonly string[]
  readonly deviceIds: readonly string[]
}

function isSelected({ checkIds, deviceIds }: ScopeSelection): RawBuilder<boolean> {
  return sql<boolean>`(
    ${checkIds === undefined ? sql`true` : sql`c.id = any(${checkIds}::bigint[])`}
    and d.id = any(${deviceIds}::bigint[]))`
}

/**
 * Lets one change at a time decide which devices the checks run on, and waits for devices that are
 * about to be added; held until the transaction ends. To be taken before any device is locked.
 */
export async function lockCheckScope(tx: Transaction<Schema>): Promise<void> {
  await lockInTransaction(tx, LOCK_KEYS.checkScope)
}

/**
 * Keeps the checks as they are while a device is added, which no lock on its row could do: it is
 * visible to nobody yet. To be taken before the device is inserted; many may hold it at once.
 */
export async function holdCheckScope(tx: Transaction<Schema>): Promise<void> {
  await shareLockInTransaction(tx, LOCK_KEYS.checkScope)
}

/** One move of results between statuses, as counters and re-evaluation need it. */
export interface ScopeMove {
  readonly device_id: string
  readonly check_id: string
  /** Null where the result is new. */
  readonly from_status: CheckStatus | null
  readonly to_status: CheckStatus
  readonly revision: number
}

/**
 * Makes the results of the selection follow from who is targeted: new ones and those that came back are `pending`, of
 * checks that other systems report `unknown`, for nobody waits for such a report; those that left the scope are
 * `out_of_scope`. Paused checks gain nothing. The devices must be locked: whoever adds a result of a device holds its
 * lock, so that none can be there that this statement does not see.
 */
export async function moveResultsIntoScope(
  tx: Transaction<Schema>,
  selection: ScopeSelection,
  at: Date,
): Promise<ScopeMove[]> {
  const { rows } = await sql<ScopeMove>`
    with scope as materialized (
      select d.id as device_id, c.id as check_id, c.revision, r.id as result_id, r.status,
        case when c.type = 'external' then 'unknown' else 'pending' end as first_status,
        ${IS_TARGETED} as is_targeted
      from posture_check c cross join device d
      left join check_result r on r.check_id = c.id and r.device_id = d.id
      where ${isSelected(selection)} and (c.paused_at is null or r.id is not null)),
    gained as (
      insert into check_result
        (device_id, check_id, status, revision, status_changed_at, updated_at)
      select device_id, check_id, first_status, revision, ${at}, ${at} from scope
      where is_targeted and result_id is null
      order by device_id, check_id
      returning device_id, check_id, status, revision),
    moved as (
      update check_result r set
        status = case when s.is_targeted then s.first_status else 'out_of_scope' end,
        status_changed_at = ${at}, failing_since = null, updated_at = ${at}
      from scope s
      where r.id = s.result_id and s.is_targeted = (s.status = 'out_of_scope')
      returning r.device_id, r.check_id, s.status as from_status, r.status, r.revision)
    select device_id, check_id, null as from_status, status as to_status, revision from gained
    union all
    select device_id, check_id, from_status, status as to_status, revision from moved
  `.execute(tx)
  return rows
}

/** Resolves the open issues of pairs that left the scope and answers them. */
export async function resolveIssuesOutOfScope(
  tx: Transaction<Schema>,
  pairs: readonly { readonly device_id: string; readonly check_id: string }[],
  at: Date,
): Promise<{ readonly id: string; readonly deviceId: string }[]> {
  if (pairs.length === 0) return []
  const { rows } = await sql<{ id: string; deviceId: string }>`
    update issue set resolved_at = ${at}, updated_at = ${at}, follows_round = false,
      last_rechecked_at = case when issue.follows_round then greatest(issue.last_rechecked_at,
        (select ran_at from device_round round where round.device_id = issue.device_id))
        else issue.last_rechecked_at end
    from jsonb_to_recordset(${JSON.stringify(pairs)}::jsonb) as left_scope(device_id bigint, check_id bigint)
    where issue.device_id = left_scope.device_id and issue.check_id = left_scope.check_id
      and issue.resolved_at is null
    returning issue.id, issue.device_id as "deviceId"
  `.execute(tx)
  return rows
}

/**
 * When an issue `i` of check `c` blocks, by the strategy and the grace period of the check: never while it is paused.
 */
export const BLOCKING_TIME = sql<Date | null>`case
  when c.paused_at is not null then null
  when c.remediation_strategy = 'block_immediately'
    then greatest(i.detected_at, c.begins_blocking_on)
  when c.remediation_strategy = 'warn_then_block'
    then greatest(i.detected_at + make_interval(hours => 24 * c.grace_period_days),
      c.begins_blocking_on)
  end`

/** Computes anew when the open issues of the selection block, from the configurations as they are. */
export async function refreshBlockingTimes(
  tx: Transaction<Schema>,
  selection: ScopeSelection,
  at: Date,
): Promise<void> {
  const computed = sql`
    select i.id, case when ${IS_BLOCKING_ALLOWED} then ${BLOCKING_TIME} end as blocks_device_at
    from issue i join posture_check c on c.id = i.check_id join device d on d.id = i.device_id
    where i.resolved_at is null and ${isSelected(selection)}`
  await updateBlockingTimes(tx, computed, at)
}

/** The same for the open issues of people: groups of devices say nothing about them. */
export async function refreshPersonBlockingTimes(
  tx: Transaction<Schema>,
  checkIds: readonly string[],
  at: Date,
): Promise<void> {
  const computed = sql`
    select i.id, ${BLOCKING_TIME} as blocks_device_at
    from issue i join posture_check c on c.id = i.check_id
    where i.resolved_at is null and i.person_id is not null
      and c.id = any(${checkIds}::bigint[])`
  await updateBlockingTimes(tx, computed, at)
}

async function updateBlockingTimes(
  tx: Transaction<Schema>,
  computed: RawBuilder<unknown>,
  at: Date,
): Promise<void> {
  await sql`
    with computed as (${computed})
    update issue set blocks_device_at = computed.blocks_device_at, updated_at = ${at}
    from computed
    where issue.id = computed.id
      and issue.blocks_device_at is distinct from computed.blocks_device_at`.execute(tx)
}

/**
 * The devices of the selection whose status may depend on it: with certain checks those that have open
 * issues of them, or whose owners do, or that were never evaluated; else all.
 */
export async function listDevicesInScope(
  tx: Transaction<Schema>,
  { checkIds, deviceIds }: ScopeSelection,
): Promise<string[]> {
  if (checkIds === undefined) return [...deviceIds]
  const { rows } = await sql<{ device_id: string }>`
    select distinct i.device_id from issue i
    where i.resolved_at is null and i.device_id = any(${deviceIds}::bigint[])
      and i.check_id = any(${checkIds}::bigint[])
    union
    select d.id from device d join issue i on i.person_id = d.owner_person_id
    where i.resolved_at is null and d.id = any(${deviceIds}::bigint[])
      and i.check_id = any(${checkIds}::bigint[])
    union
    select r.device_id from check_result r join device d on d.id = r.device_id
    where d.id = any(${deviceIds}::bigint[]) and r.check_id = any(${checkIds}::bigint[])
      and d.evaluated_at is null
  `.execute(tx)
  return rows.map((row) => row.device_id)
}
