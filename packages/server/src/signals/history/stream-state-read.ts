/*
 * The present compliance of devices beside the last event of a destination about each. SQL only; what a
 * receiver is shown of it is in stream-state.ts.
 */
import { DEVICE_COMPLIANCE_CHANGE } from '@heliograph/ssf'
import { sql, type Transaction } from 'kysely'
import type { DestinationId } from '../../schema/branded-ids.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Compliance } from '../../schema/status-values.ts'
import type { Platform } from '../../schema/tables/device-tables.ts'

/** Which devices a page is about. */
export interface StateWindow {
  /** The device after which the page begins; 0 for the first one. */
  readonly afterId: string
  readonly limit: number
}

/** A device with the last change of its compliance and the last event about it. */
export interface DeviceState {
  readonly id: string
  readonly name: string
  readonly platform: Platform
  readonly compliance: Compliance
  readonly knownSince: Date
  readonly personId: string | null
  readonly email: string | null
  readonly changedAt: Date | null
  readonly jti: string | null
  readonly sequence: string | null
  /** The claims of the last event about the device. */
  readonly body: string | null
}

/** Devices by ascending id, each with the last event that a destination has of it. */
export async function listDeviceStates(
  tx: Transaction<Schema>,
  destinationId: DestinationId,
  { afterId, limit }: StateWindow,
): Promise<DeviceState[]> {
  const { rows } = await sql<DeviceState>`
    select d.id, d.name, d.platform, d.compliance, d.created_at as "knownSince", p.id as "personId", p.email,
      t.occurred_at as "changedAt", e.event_id as jti, e.sequence, e.body
    from (select * from device where id > ${afterId} order by id limit ${limit}) d
    left join person p on p.id = d.owner_person_id
    left join lateral (
      select occurred_at, txn from device_status_transition
      where device_id = d.id and from_compliance <> to_compliance
      order by id desc limit 1) t on true
    left join lateral (
      select event_id, sequence, body from delivery
      where destination_id = ${destinationId} and subject_key = 'device:' || d.id
        and event_type = ${DEVICE_COMPLIANCE_CHANGE} and state <> 'discarded'
      order by id desc limit 1) e on true
    order by d.id`.execute(tx)
  return rows
}
