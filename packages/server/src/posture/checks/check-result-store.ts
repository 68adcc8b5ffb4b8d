import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { Change } from '../../changes/change.ts'
import { UNAWAITED } from '../../platform/db/unawaited.ts'
import type { Schema } from '../../schema/schema.ts'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'
import type {
  CheckStatus,
  InitiatingEntity,
  RemediationStrategy,
} from '../../schema/status-values.ts'
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

/** Checks of a device. */
export interface ChecksOfDevice {
  readonly deviceId: string
  readonly checkIds: readonly string[]
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
  await sql`${UNAWAITED}
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
  { tx, tellAfterCommit }: Pick<Change, 'tx' | 'tellAfterCommit'>,
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
    tellAfterCommit(RERUN_CHANNEL, some.join(' '))
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
