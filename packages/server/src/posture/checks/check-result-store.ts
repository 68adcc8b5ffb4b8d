import { sql, type RawBuilder, type Transaction } from 'kysely'
import { notify } from '../../platform/db/listener.ts'
import type { Schema } from '../../schema/schema.ts'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'
import type {
  CheckStatus,
  InitiatingEntity,
  RemediationStrategy,
} from '../../schema/status-values.ts'
import { IS_BLOCKING_ALLOWED, IS_TARGETED } from './check-scope-store.ts'
import { RERUN_CHANNEL } from './rerun-answers.ts'

const DEVICES_PER_NOTIFICATION = 200

/** A check together with its present result on one device. */
export interface DeviceCheck {
  readonly checkId: string
  readonly name: string
  readonly issueTitle: string
  readonly type: 'osquery' | 'custom' | 'external'
  readonly revision: number
  readonly primaryKeyColumn: string | null
  readonly strategy: RemediationStrategy
  readonly gracePeriodDays: number
  readonly beginsBlockingOn: Date | null
  readonly isPaused: boolean
  readonly isTargeted: boolean
  readonly isBlockingAllowed: boolean
  /** Null before the first result; `ranAt` is null while it is pending. */
  readonly stored: {
    readonly status: CheckStatus
    readonly ranAt: Date | null
    readonly statusChangedAt: Date
    readonly failingSince: Date | null
  } | null
}

/** One of several checks of a device. */
export interface ListedDeviceCheck extends DeviceCheck {
  readonly deviceId: string
  /** Whether the device itself runs checks that are not in the list. */
  readonly hasOtherChecks: boolean
  /** Whether results follow the last round of the device whose checks are not in the list. */
  readonly hasOtherFollowers: boolean
  /** Whether any check of the device shall run again at once. */
  readonly hasRefreshes: boolean
  /** What the stored result is known again by, when it follows the last round of the device. */
  readonly following: { readonly revision: number; readonly contentHash: Buffer } | null
}

interface DeviceCheckRow extends Omit<ListedDeviceCheck, 'stored' | 'following'> {
  readonly storedRevision: number | null
  readonly followingHash: Buffer | null
  readonly status: CheckStatus | null
  readonly ranAt: Date | null
  readonly statusChangedAt: Date | null
  readonly failingSince: Date | null
}

/** Checks of a device. */
export interface ChecksOfDevice {
  readonly deviceId: string
  readonly checkIds: readonly string[]
}

/**
 * Those of the checks that exist, by ascending ids of device and check; each device at most once. The ids travel as
 * JSON: the length of an array would have the statement planned anew for every report.
 */
export async function listDeviceChecks(
  tx: Transaction<Schema>,
  asked: readonly ChecksOfDevice[],
): Promise<ListedDeviceCheck[]> {
  const { rows } = await sql<DeviceCheckRow>`
    with wanted as materialized (${checkPairs(asked)}),
    rest as materialized (
      select d.id as device_id, exists (
        select from posture_check c
        where (d.id, c.id) not in (select device_id, check_id from wanted) and c.paused_at is null
          and c.type <> 'external' and ${IS_TARGETED}) as "hasOtherChecks",
        exists (
          select from check_result other
          where other.device_id = d.id and other.follows_round
            and (d.id, other.check_id) not in (select device_id, check_id from wanted)
          ) as "hasOtherFollowers",
        exists (select from check_refresh f where f.device_id = d.id) as "hasRefreshes"
      from device d
      where d.id in (
        select value::bigint
        from jsonb_array_elements_text(${JSON.stringify(asked.map(({ deviceId }) => deviceId))}::jsonb)))
    select d.id as "deviceId", c.id as "checkId", c.name, c.issue_title as "issueTitle", c.type,
      c.revision, c.primary_key_column as "primaryKeyColumn", c.remediation_strategy as strategy,
      c.grace_period_days as "gracePeriodDays", c.begins_blocking_on as "beginsBlockingOn",
      c.paused_at is not null as "isPaused", ${IS_TARGETED} as "isTargeted",
      ${IS_BLOCKING_ALLOWED} as "isBlockingAllowed", r.status, r.ran_at as "ranAt",
      r.status_changed_at as "statusChangedAt", r.failing_since as "failingSince",
      r.revision as "storedRevision",
      case when r.follows_round then r.content_hash end as "followingHash",
      rest."hasOtherChecks", rest."hasOtherFollowers", rest."hasRefreshes"
    from wanted
    join rest on rest.device_id = wanted.device_id
    join device d on d.id = wanted.device_id
    join posture_check c on c.id = wanted.check_id
    left join check_result r on r.device_id = wanted.device_id and r.check_id = wanted.check_id
    order by d.id, c.id
  `.execute(tx)
  return rows.map(toListedCheck)
}

/** Pairs of a device and a check as rows of `device_id` and `check_id`. */
function checkPairs(checks: readonly ChecksOfDevice[]): RawBuilder<unknown> {
  const pairs = checks.flatMap(({ deviceId, checkIds }) =>
    checkIds.map((checkId) => [deviceId, checkId]),
  )
  return sql`
    select (value ->> 0)::bigint as device_id, (value ->> 1)::bigint as check_id
    from jsonb_array_elements(${JSON.stringify(pairs)}::jsonb)`
}

function toListedCheck(row: DeviceCheckRow): ListedDeviceCheck {
  const { status, ranAt, statusChangedAt, failingSince, storedRevision, followingHash, ...check } =
    row
  return {
    ...check,
    stored:
      status === null || statusChangedAt === null
        ? null
        : { status, ranAt, statusChangedAt, failingSince },
    following:
      storedRevision === null || followingHash === null
        ? null
        : { revision: storedRevision, contentHash: followingHash },
  }
}

/** A result as it is to be stored. */
export interface NewCheckResult {
  readonly check_id: string
  readonly status: CheckStatus
  readonly revision: number
  readonly status_changed_at: Date
  readonly failing_since: Date | null
  readonly rows: readonly OsqueryRow[]
  readonly error_message: string | null
}

/** A result of a device as it is to be stored. */
export interface NewDeviceResult extends NewCheckResult {
  readonly device_id: string
  /** Whether the result is of a round of the device, whose time it follows until it changes. */
  readonly follows_round: boolean
  /** The bytes of the hash as PostgreSQL reads them: `\x` and hexadecimal digits. */
  readonly content_hash: string
}

/** Results as they are to be stored, and what they change. */
export interface NewCheckResults {
  readonly results: readonly NewDeviceResult[]
  readonly transitions: readonly NewCheckTransition[]
}

/**
 * Stores results of devices, all of the same time, with their history; nothing for none. One statement; the
 * devices must be locked.
 */
export async function upsertCheckResults(
  tx: Transaction<Schema>,
  { results, transitions }: NewCheckResults,
  ranAt: Date,
): Promise<void> {
  if (results.length === 0) return
  await sql`
    with answered as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(results)}::jsonb) as r(
        device_id bigint, check_id bigint, status text, revision integer, status_changed_at timestamptz,
        failing_since timestamptz, rows jsonb, error_message text, follows_round boolean,
        content_hash bytea)),
    moved as (
      insert into check_transition (${TRANSITION_COLUMNS})
      select * from ${toTransitionRows(transitions)})
    insert into check_result (device_id, check_id, status, revision, ran_at, status_changed_at,
      failing_since, rows, error_message, updated_at, follows_round, content_hash)
    select device_id, check_id, status, revision, ${ranAt}::timestamptz,
      status_changed_at, failing_since, rows, error_message, ${ranAt}::timestamptz, follows_round,
      content_hash
    from answered order by device_id, check_id
    on conflict (device_id, check_id) do update set
      status = excluded.status, revision = excluded.revision, ran_at = excluded.ran_at,
      status_changed_at = excluded.status_changed_at, failing_since = excluded.failing_since,
      rows = excluded.rows, error_message = excluded.error_message,
      updated_at = excluded.updated_at, follows_round = excluded.follows_round,
      content_hash = excluded.content_hash
  `.execute(tx)
}

/** Checks that a device has answered, and when its run was asked for. */
export interface FulfilledChecks extends ChecksOfDevice {
  readonly askedAt: Date
}

/**
 * Removes the requests for a rerun of checks that were made before the run of the device began. A request cannot be
 * later than a result whose lock it would have waited for: one that seems so is of a clock that was set back. Tells
 * whoever waits for these devices.
 */
export async function deleteFulfilledRefreshes(
  tx: Transaction<Schema>,
  fulfilled: readonly FulfilledChecks[],
  ranAt: Date,
): Promise<void> {
  if (fulfilled.length === 0) return
  const runs = fulfilled.map(({ deviceId, askedAt }) => ({ id: deviceId, asked_at: askedAt }))
  const { rows } = await sql<{ id: string }>`
    delete from check_refresh refresh
    using jsonb_to_recordset(${JSON.stringify(runs)}::jsonb) as run(id bigint, asked_at timestamptz)
    where refresh.device_id = run.id
      and (refresh.device_id, refresh.check_id) in (
        select device_id, check_id from (${checkPairs(fulfilled)}) as answered)
      and (refresh.requested_at <= run.asked_at or refresh.requested_at > ${ranAt})
    returning refresh.device_id as id`.execute(tx)
  const deviceIds = [...new Set(rows.map(({ id }) => id))]
  for (let start = 0; start < deviceIds.length; start += DEVICES_PER_NOTIFICATION) {
    const some = deviceIds.slice(start, start + DEVICES_PER_NOTIFICATION)
    await notify(tx, RERUN_CHANNEL, some.join(' '))
  }
}

/** One change of a result's status, as the history keeps it. */
export interface NewCheckTransition {
  readonly device_id: string
  readonly check_id: string
  readonly occurred_at: Date
  readonly from_status: CheckStatus
  readonly to_status: CheckStatus
  readonly revision: number
  readonly initiating_entity: InitiatingEntity
  readonly actor_name: string
  readonly reason: string
  /** Some of the rows that led to it; null where no answer did. */
  readonly rows: readonly OsqueryRow[] | null
  readonly txn: string
}

/** Appends to the history of results; nothing for an empty list. */
export async function insertCheckTransitions(
  tx: Transaction<Schema>,
  transitions: readonly NewCheckTransition[],
): Promise<void> {
  if (transitions.length === 0) return
  await sql`
    insert into check_transition (${TRANSITION_COLUMNS})
    select * from ${toTransitionRows(transitions)}
  `.execute(tx)
}

const TRANSITION_COLUMNS = sql`device_id, check_id, occurred_at, from_status, to_status, revision,
  initiating_entity, actor_name, reason, rows, txn`

function toTransitionRows(transitions: readonly NewCheckTransition[]) {
  return sql`jsonb_to_recordset(${JSON.stringify(transitions)}::jsonb) as t(
    device_id bigint, check_id bigint, occurred_at timestamptz, from_status text, to_status text,
    revision integer, initiating_entity text, actor_name text, reason text, rows jsonb, txn text)`
}

/** Notes that a check shall run on a device at once, from now on if it was noted already. */
export async function upsertCheckRefresh(
  tx: Transaction<Schema>,
  refresh: {
    readonly device_id: string
    readonly check_id: string
    readonly requested_at: Date
  },
): Promise<void> {
  const { requested_at } = refresh
  await tx
    .insertInto('check_refresh')
    .values(refresh)
    .onConflict((conflict) =>
      conflict.columns(['device_id', 'check_id']).doUpdateSet({ requested_at }),
    )
    .execute()
}
