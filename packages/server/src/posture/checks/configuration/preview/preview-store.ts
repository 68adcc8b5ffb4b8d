/*
 * What a configuration of a check would do to the fleet, without having it. SQL only. The statements see the
 * check and its groups as the configuration has them, under the names of the tables; the conditions that they
 * are held against are those of check-scope-store.ts, which write the real results and blocking times.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Schema } from '../../../../schema/schema.ts'
import type { AuthState } from '../../../../schema/status-values.ts'
import {
  issuesCountingFor,
  statusIssueColumns,
  type StatusIssue,
} from '../../../issues/issue-store.ts'
import { BLOCKING_TIME, IS_BLOCKING_ALLOWED, IS_TARGETED } from '../../check-scope-store.ts'
import type { CheckConfiguration } from '../check-configuration-store.ts'

/** Queries of a `with` that stand before the tables of the same names: one check as it is configured. */
function asConfigured({ check, groups }: CheckConfiguration): RawBuilder<unknown> {
  const columns = {
    paused_at: check.pausedAt,
    remediation_strategy: check.remediationStrategy,
    grace_period_days: check.gracePeriodDays,
    rollout_percent: check.rolloutPercent,
    begins_blocking_on: check.beginsBlockingOn,
  }
  const rules = Object.entries(groups).flatMap(([rule, references]) =>
    references.map((group) => ({
      rule,
      device_group_id: group.kind === 'group' ? group.id : null,
      platform: group.kind === 'platform' ? group.platform : null,
    })),
  )
  return sql`
    posture_check as materialized (
      select configured.* from posture_check stored
      cross join lateral jsonb_populate_record(stored, ${JSON.stringify(columns)}::jsonb) configured
      where stored.id = ${check.id}),
    check_group_rule as materialized (
      select ${check.id}::bigint as check_id, rule, device_group_id, platform
      from jsonb_to_recordset(${JSON.stringify(rules)}::jsonb)
        as r(rule text, device_group_id bigint, platform text))`
}

/** The open issues of the check that would count for devices, by ascending id, as they would block. */
export async function listIssuesAsConfigured(
  db: Kysely<Schema>,
  configuration: CheckConfiguration,
  deviceIds: readonly string[],
): Promise<StatusIssue[]> {
  const blockingTime = sql<Date | null>`
    case when i.device_id is null or ${IS_BLOCKING_ALLOWED} then ${BLOCKING_TIME} end`
  const { rows } = await sql<StatusIssue>`
    with ${asConfigured(configuration)}
    select ${statusIssueColumns(blockingTime)}
    from ${issuesCountingFor(deviceIds)} i
    join posture_check c on c.id = i.check_id
    join device d on d.id = i.for_device_id
    where c.paused_at is null and (i.device_id is null or ${IS_TARGETED})
    order by i.id`.execute(db)
  return rows
}

/** Of the given devices, those that would owe an answer to the check. */
export async function listDevicesOwingAsConfigured(
  db: Kysely<Schema>,
  configuration: CheckConfiguration,
  deviceIds: readonly string[],
): Promise<Set<string>> {
  if (deviceIds.length === 0) return new Set()
  const { rows } = await sql<{ id: string }>`
    with ${asConfigured(configuration)}
    select d.id from posture_check c cross join device d
    left join check_result r on r.check_id = c.id and r.device_id = d.id
    where d.id = any(${deviceIds}::bigint[]) and c.paused_at is null and c.type <> 'external'
      and ${IS_TARGETED} and coalesce(r.status, 'pending') in ('pending', 'out_of_scope')`.execute(
    db,
  )
  return new Set(rows.map(({ id }) => id))
}

/** How many devices would begin to run the check, and how many would not any more. */
export interface ScopeDifference {
  readonly gained: number
  readonly lost: number
}

/** Compares whom two configurations of a check target. A paused check is run by nobody. */
export async function compareScopes(
  db: Kysely<Schema>,
  present: CheckConfiguration,
  wanted: CheckConfiguration,
): Promise<ScopeDifference> {
  const scope = (configuration: CheckConfiguration) => sql`(
    with ${asConfigured(configuration)}
    select d.id, c.paused_at is null and ${IS_TARGETED} as is_targeted
    from posture_check c cross join device d)`
  const { rows } = await sql<ScopeDifference>`
    select count(*) filter (where wanted.is_targeted and not present.is_targeted)::int as gained,
      count(*) filter (where present.is_targeted and not wanted.is_targeted)::int as lost
    from ${scope(present)} present join ${scope(wanted)} wanted on wanted.id = present.id`.execute(
    db,
  )
  return rows[0] ?? { gained: 0, lost: 0 }
}

/**
 * The devices whose status may depend on how the check is configured, by ascending id: those that have open
 * issues of it, or whose owners do, those that were never evaluated, and those whose status is due to change by itself:
 * a change would settle them first.
 */
export async function listDependentDeviceIds(
  db: Kysely<Schema>,
  checkId: string,
  now: Date,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select i.device_id as id from issue i
    where i.check_id = ${checkId} and i.resolved_at is null and i.device_id is not null
    union
    select d.id from device d join issue i on i.person_id = d.owner_person_id
    where i.check_id = ${checkId} and i.resolved_at is null
    union
    select d.id from device d where d.evaluated_at is null
    union
    select d.id from device d where d.reevaluate_at <= ${now}
    order by id`.execute(db)
  return rows.map(({ id }) => id)
}

/** Devices in the same state, and when one of them will be blocked. */
export interface StateCount {
  readonly authState: AuthState
  readonly willBlockAt: Date | null
  readonly count: number
}

/** Counts all devices by state, those that will be blocked apart by the times. */
export async function countStates(
  db: Kysely<Schema>,
  times: readonly [Date, Date],
): Promise<StateCount[]> {
  const { rows } = await sql<StateCount>`
    select auth_state as "authState", max(will_block_at) as "willBlockAt", count(*)::int as count
    from device group by auth_state, will_block_at <= ${times[0]}, will_block_at <= ${times[1]}`.execute(
    db,
  )
  return rows
}

/** Devices of a group that make the same move. */
export interface GroupMove {
  readonly groupId: string
  readonly groupName: string
  readonly from: AuthState
  readonly to: AuthState
  readonly count: number
}

/** Counts moves by group: those of the groups with most devices that move, and of no more than `limit`. */
export async function countMovesByGroup(
  db: Kysely<Schema>,
  moves: readonly { readonly deviceId: string; readonly from: AuthState; readonly to: AuthState }[],
  limit: number,
): Promise<GroupMove[]> {
  if (moves.length === 0) return []
  const { rows } = await sql<GroupMove>`
    with moved as (
      select * from unnest(${moves.map(({ deviceId }) => deviceId)}::bigint[],
        ${moves.map(({ from }) => from)}::text[], ${moves.map(({ to }) => to)}::text[])
        as m(device_id, from_state, to_state)),
    counted as (
      select member.device_group_id, from_state, to_state, count(*) as count
      from moved join device_group_member member on member.device_id = moved.device_id
      group by 1, 2, 3),
    shown as (
      select device_group_id, sum(count) as total from counted
      group by 1 order by total desc, device_group_id limit ${limit})
    select g.id as "groupId", g.name as "groupName", from_state as "from", to_state as "to",
      counted.count::int as count
    from shown join counted on counted.device_group_id = shown.device_group_id
    join device_group g on g.id = shown.device_group_id
    order by shown.total desc, g.id, from_state, to_state`.execute(db)
  return rows
}
