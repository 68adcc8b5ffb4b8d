import { sql, type Kysely, type Transaction } from 'kysely'
import { rowsOf } from '../../schema/row-store.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Platform } from '../../schema/tables/device-tables.ts'
import type { AuthState, Compliance, InitiatingEntity } from '../../schema/status-values.ts'
import { elementsOf, isAnyId } from '../../platform/db/planned-once.ts'
import { UNAWAITED } from '../../platform/db/unawaited.ts'
import type { ComplianceThreshold } from './evaluate-device-status.ts'

/** A device whose row is locked until the transaction ends. */
export interface LockedDevice {
  readonly id: string
  readonly name: string
  readonly platform: Platform
  readonly ownerPersonId: string | null
  readonly ownerEmail: string | null
  readonly authState: AuthState
  readonly compliance: Compliance
  readonly willBlockAt: Date | null
  readonly evaluatedAt: Date | null
  readonly statusChangedAt: Date | null
  readonly reevaluateAt: Date | null
  /** The organisation's threshold; `blocked` before an organisation exists. */
  readonly threshold: ComplianceThreshold
}

const DEVICE_COLUMNS = sql`
  d.id, d.name, d.platform, d.owner_person_id as "ownerPersonId", p.email as "ownerEmail",
  d.auth_state as "authState", d.compliance, d.will_block_at as "willBlockAt",
  d.evaluated_at as "evaluatedAt", d.status_changed_at as "statusChangedAt",
  d.reevaluate_at as "reevaluateAt",
  coalesce((select compliance_threshold from organisation), 'blocked') as threshold
`

/**
 * Locks devices by ascending id, so that two transactions never wait for one another. Unknown ids are
 * left out. Everything that a device's status follows from changes only under this lock.
 */
export async function lockDevices(
  tx: Transaction<Schema>,
  deviceIds: readonly string[],
): Promise<LockedDevice[]> {
  const { rows } = await sql<LockedDevice>`${selectDevices(deviceIds)} for update of d`.execute(tx)
  return rows
}

/** Locks devices by ascending id, as `lockDevices` does, where nothing of them is to be read; answers which exist. */
export async function lockDeviceIds(
  tx: Transaction<Schema>,
  deviceIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from device where id = any(${deviceIds}::bigint[]) order by id for no key update
  `.execute(tx)
  return rows.map(({ id }) => id)
}

/** Reads devices as `lockDevices` does, by ascending id, and locks none: for what is only to be known. */
export async function listStatusDevices(
  db: Kysely<Schema>,
  deviceIds: readonly string[],
): Promise<LockedDevice[]> {
  const { rows } = await selectDevices(deviceIds).execute(db)
  return rows
}

function selectDevices(deviceIds: readonly string[]) {
  return sql<LockedDevice>`
    select ${DEVICE_COLUMNS}
    from device d left join person p on p.id = d.owner_person_id
    where d.id = any(${elementsOf(deviceIds, 'bigint')})
    order by d.id
  `
}

/** Locks one device in the same way; undefined without it. */
export async function lockDevice(
  tx: Transaction<Schema>,
  deviceId: string,
): Promise<LockedDevice | undefined> {
  const { rows } = await sql<LockedDevice>`
    select ${DEVICE_COLUMNS}
    from device d left join person p on p.id = d.owner_person_id
    where d.id = ${deviceId}
    for update of d
  `.execute(tx)
  return rows[0]
}

/** Locks the rows of devices by ascending id without reading them; of all devices without `deviceIds`. */
export async function lockDeviceRows(
  tx: Transaction<Schema>,
  deviceIds?: readonly string[],
): Promise<void> {
  await sql`
    with locked as materialized (
      select from device
      where ${deviceIds === undefined ? sql`true` : sql`id = any(${deviceIds}::bigint[])`}
      order by id for update)
    select count(*) from locked
  `.execute(tx)
}

/**
 * Locks devices whose status may change by itself at or before `at`, without waiting for any, and
 * leaving out those in `exceptIds`.
 */
export async function claimDueDevices(
  tx: Transaction<Schema>,
  at: Date,
  limit: number,
  exceptIds: readonly string[],
): Promise<LockedDevice[]> {
  const { rows } = await sql<LockedDevice>`
    select ${DEVICE_COLUMNS}
    from device d left join person p on p.id = d.owner_person_id
    where d.reevaluate_at <= ${at} and d.id <> all(${exceptIds}::bigint[])
    order by d.reevaluate_at
    limit ${limit}
    for update of d skip locked
  `.execute(tx)
  return rows
}

/** Devices whose status may change by itself at or before `at`, by ascending id, `limit` at most. */
export async function listDueDeviceIds(
  db: Kysely<Schema>,
  at: Date,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('device')
    .select('id')
    .where('reevaluate_at', '<=', at)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}

/** The earliest time at which the status of any device may change by itself. */
export async function findNextReevaluation(db: Kysely<Schema>): Promise<Date | undefined> {
  return rowsOf('device', 'device').findEarliest(db, 'reevaluate_at')
}

/**
 * Of the given devices, those that still owe an answer to a check, other than the one with `exceptCheckId`.
 * Checks that other systems report are not owed by the device and never pending. Each device is looked at by itself:
 * by the checks, everything that is pending anywhere would be.
 */
export async function listDevicesWithPendingChecks(
  db: Kysely<Schema>,
  deviceIds: readonly string[],
  exceptCheckId = '0',
): Promise<Set<string>> {
  const { rows } = await sql<{ device_id: string }>`
    select wanted.value as device_id
    from jsonb_array_elements_text(${JSON.stringify(deviceIds)}::jsonb) as wanted
    where exists (
      select from (
        select check_id from check_result
        where device_id = wanted.value::bigint and status = 'pending' offset 0) as pending
      join posture_check c on c.id = pending.check_id
      where c.paused_at is null and c.id <> ${exceptCheckId} offset 0)
  `.execute(db)
  return new Set(rows.map((row) => row.device_id))
}

/** The status columns of a device as they shall be. */
export interface DeviceStatusColumns {
  readonly id: string
  readonly auth_state: AuthState
  readonly will_block_at: Date | null
  readonly compliance: Compliance
  readonly evaluated_at: Date | null
  readonly status_changed_at: Date | null
  readonly reevaluate_at: Date | null
}

/**
 * Writes the status columns of locked devices and appends the transitions that led there to the
 * history, in one statement.
 */
export async function updateDeviceStatuses(
  tx: Transaction<Schema>,
  updates: readonly DeviceStatusColumns[],
  transitions: readonly StatusTransition[],
  at: Date,
): Promise<void> {
  await sql`${UNAWAITED}
    with moved as (
      insert into device_status_transition (device_id, occurred_at, from_state, to_state,
        from_compliance, to_compliance, initiating_entity, actor_name, reason, txn)
      select * from jsonb_to_recordset(${JSON.stringify(transitions)}::jsonb) as t(
        device_id bigint, occurred_at timestamptz, from_state text, to_state text,
        from_compliance text, to_compliance text, initiating_entity text, actor_name text,
        reason text, txn text))
    update device set
      auth_state = u.auth_state, will_block_at = u.will_block_at, compliance = u.compliance,
      evaluated_at = u.evaluated_at, status_changed_at = u.status_changed_at,
      reevaluate_at = u.reevaluate_at, updated_at = ${at}
    from jsonb_to_recordset(${JSON.stringify(updates)}::jsonb) as u(
      id bigint, auth_state text, will_block_at timestamptz, compliance text,
      evaluated_at timestamptz, status_changed_at timestamptz, reevaluate_at timestamptz)
    where device.id = u.id and ${isAnyId(sql`u.id`)}
  `.execute(tx)
}

/** A row of `device_status_transition`. */
export interface StatusTransition {
  readonly device_id: string
  readonly occurred_at: Date
  readonly from_state: AuthState
  readonly to_state: AuthState
  readonly from_compliance: Compliance
  readonly to_compliance: Compliance
  readonly initiating_entity: InitiatingEntity
  readonly actor_name: string
  readonly reason: string
  readonly txn: string
}

/** The channel that tells schedulers of the earliest new time at which a status may change by itself. */
export const REEVALUATE_CHANNEL = 'reevaluate'
