/*
 * What a report is judged by, as SQL: which checks a kind of device runs, and what is stored of a device. Devices of
 * one platform and in the same of the groups that checks name are of one kind.
 */
import { sql, type Transaction } from 'kysely'
import { isAnyId } from '../../platform/db/planned-once.ts'
import type { Schema } from '../../schema/schema.ts'
import type { CheckStatus } from '../../schema/status-values.ts'
import type { OpenIssue } from '../issues/issue.ts'
import { hundredthOf, IS_BLOCKING_IN_GROUPS, IS_TARGETED } from './check-scope-store.ts'
import type { ChecksOfDevice, DeviceCheck } from './check-result-store.ts'

/** By what is known again how checks apply to a device. */
export interface DeviceKind {
  /** Another one whenever a check or a rule about groups is another row than before, in any database. */
  readonly version: string
  readonly platform: string
  /** The ids of the device's groups that checks name, in ascending order. */
  readonly groupIds: string
}

/** A check as it applies to a kind of device. */
export interface KindCheck extends Omit<DeviceCheck, 'isBlockingAllowed' | 'stored'> {
  readonly isBlockingInGroups: boolean
  readonly rolloutPercent: number
}

/**
 * A stored result: check, status, revision, when it ran, changed and began to fail, hash where it follows the round.
 */
export type StoredResult = readonly [
  checkId: string,
  status: CheckStatus,
  revision: number,
  ranAt: string | null,
  statusChangedAt: string,
  failingSince: string | null,
  followingHash: string | null,
]

/** An open issue as it stands in JSON: its times are texts. */
export interface StoredIssue extends Pick<
  OpenIssue,
  'id' | 'checkId' | 'issueValue' | 'value' | 'followsRound'
> {
  readonly detectedAt: string
  readonly blocksDeviceAt: string | null
  readonly lastRecheckedAt: string
}

/** A device with what is stored of it. */
export interface AskedDevice extends DeviceKind {
  readonly deviceId: string
  /** Of which hundredth of all devices it is. */
  readonly hundredth: number
  readonly hasRefreshes: boolean
  /** How many of its results follow its last round. */
  readonly followersCount: number
  /** The results of the checks that are asked for. */
  readonly results: readonly StoredResult[] | null
  /** The open issues of these checks, exempted ones included. */
  readonly issues: readonly StoredIssue[] | null
}

/*
 * Where a row lies and which transaction wrote it there tell every version of it from every other one of the server;
 * the start of the server tells them from those of other servers. Of all rows together 64 bits are told: as texts they
 * were a third of the statement.
 */
const VERSION = sql`
  select concat_ws(' ', pg_postmaster_start_time(),
    (select bit_xor(hash_record_extended((ctid, xmin), 0)) from posture_check),
    (select bit_xor(hash_record_extended((ctid, xmin), 1)) from check_group_rule)) as version`

const KIND = sql`present.version, d.platform, coalesce((
    select string_agg(member.device_group_id::text, ' ' order by member.device_group_id)
    from device_group_member member
    where member.device_id = d.id
      and member.device_group_id in (select device_group_id from check_group_rule)), '') as "groupIds"`

/**
 * Those of the devices that exist, by ascending id; each at most once. What is asked travels as JSON: the length of an
 * array would have the statement planned anew for every report.
 */
export async function listAskedDevices(
  tx: Transaction<Schema>,
  asked: readonly ChecksOfDevice[],
): Promise<AskedDevice[]> {
  const given = asked.map(({ deviceId, checkIds }) => ({
    device_id: deviceId,
    check_ids: checkIds,
  }))
  const { rows } = await sql<AskedDevice>`
    with present as materialized (${VERSION}),
    asked as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
        as asked(device_id bigint, check_ids bigint[])
      where ${isAnyId(sql`device_id`)})
    select d.id as "deviceId", ${KIND}, ${hundredthOf(sql`d.id`)} as hundredth,
      exists (select from check_refresh f where f.device_id = d.id) as "hasRefreshes",
      stored."followersCount", stored.results,
      (select json_agg(json_build_object('id', i.id::text, 'checkId', i.check_id::text,
          'issueValue', i.issue_value, 'detectedAt', i.detected_at, 'value', i.value,
          'blocksDeviceAt', i.blocks_device_at, 'lastRecheckedAt', i.last_rechecked_at,
          'followsRound', i.follows_round) order by i.id)
        from issue i
        where i.device_id = d.id and i.check_id = any(asked.check_ids) and i.resolved_at is null)
        as issues
    from asked
    cross join present
    cross join lateral (select id, platform from device where id = asked.device_id offset 0) as d
    cross join lateral (
      select count(*) filter (where r.follows_round)::integer as "followersCount",
        json_agg(json_build_array(r.check_id::text, r.status, r.revision, r.ran_at,
          r.status_changed_at, r.failing_since, case when r.follows_round then r.content_hash end))
          filter (where r.check_id = any(asked.check_ids)) as results
      from check_result r where r.device_id = d.id) as stored
    order by d.id`.execute(tx)
  return rows
}

/** The kind of a device, with all checks by ascending id as they apply to it; without checks when it does not exist. */
export async function readDeviceKind(
  tx: Transaction<Schema>,
  deviceId: string,
): Promise<{ readonly kind: DeviceKind | undefined; readonly checks: readonly KindCheck[] }> {
  const { rows } = await sql<DeviceKind & KindCheck>`
    with present as materialized (${VERSION})
    select ${KIND}, c.id as "checkId", c.name, c.issue_title as "issueTitle", c.type, c.revision,
      c.primary_key_column as "primaryKeyColumn", c.remediation_strategy as strategy,
      c.grace_period_days as "gracePeriodDays", c.begins_blocking_on as "beginsBlockingOn",
      c.paused_at is not null as "isPaused", ${IS_TARGETED} as "isTargeted",
      ${IS_BLOCKING_IN_GROUPS} as "isBlockingInGroups",
      case when c.target_type = 'people' then 100 else c.rollout_percent end as "rolloutPercent"
    from present cross join device d cross join posture_check c
    where d.id = ${deviceId}
    order by c.id`.execute(tx)
  return { kind: rows[0], checks: rows.map(toKindCheck) }
}

/** The check alone: it is kept, and the kind is the same in every row. */
function toKindCheck(row: KindCheck): KindCheck {
  return {
    checkId: row.checkId,
    name: row.name,
    issueTitle: row.issueTitle,
    type: row.type,
    revision: row.revision,
    primaryKeyColumn: row.primaryKeyColumn,
    strategy: row.strategy,
    gracePeriodDays: row.gracePeriodDays,
    beginsBlockingOn: row.beginsBlockingOn,
    isPaused: row.isPaused,
    isTargeted: row.isTargeted,
    isBlockingInGroups: row.isBlockingInGroups,
    rolloutPercent: row.rolloutPercent,
  }
}
