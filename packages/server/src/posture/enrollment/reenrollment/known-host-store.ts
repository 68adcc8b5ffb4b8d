import { sql, type Selectable, type Transaction } from 'kysely'
import { listRecords, toRecord } from '../../../platform/db/record-table.ts'
import type { Schema } from '../../../schema/schema.ts'
import type { Device } from '../../devices/device-store.ts'
import type { Hardware } from '../../devices/hardware-duplicate-store.ts'

/** A device with its last contact. */
export interface ContactedDevice extends Device {
  readonly lastSeenAt: Date | null
  readonly contactAddress: string | null
}

/** The devices with these host identifiers, locked by ascending id until the transaction ends. */
export async function listKnownHosts(
  tx: Transaction<Schema>,
  hostIdentifiers: readonly string[],
): Promise<ContactedDevice[]> {
  const wanted = JSON.stringify(hostIdentifiers)
  return listRecords(
    tx
      .selectFrom('device')
      .leftJoin('device_contact', 'device_contact.device_id', 'device.id')
      .selectAll('device')
      .select(['device_contact.last_seen_at', 'device_contact.ip_address as contact_address'])
      .where(
        sql<boolean>`device.host_identifier = any(array(
          select jsonb_array_elements_text(${wanted}::jsonb)))`,
      )
      .orderBy('device.id')
      .forUpdate('device'),
  )
}

/** A machine by its host identifier, with hardware that it is not known to have. */
export interface Newcomer extends Hardware {
  readonly hostIdentifier: string
}

/** Of more devices with one serial, an admin looks at the first. */
const TWINS_MAX = 100

/**
 * The devices under other host identifiers that have the hardware of newcomers and a node key, for each newcomer. The
 * hardware is locked.
 */
export async function listTwins<Machine extends Newcomer>(
  tx: Transaction<Schema>,
  newcomers: readonly Machine[],
): Promise<Map<Machine, ContactedDevice[]>> {
  const asked = newcomers.filter(
    ({ serial, hardwareUuid }) => serial !== null || hardwareUuid !== null,
  )
  if (asked.length === 0) return new Map()
  const rows = asked.map(({ hostIdentifier, serial, hardwareUuid }, place) => {
    return { place, host_identifier: hostIdentifier, serial, uuid: hardwareUuid }
  })
  const found = await sql<TwinRow>`
    select newcomer.place, twin.*, device_contact.last_seen_at,
      device_contact.ip_address as contact_address
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as newcomer(place integer, host_identifier text, serial text, uuid text)
    cross join lateral (
      select * from device
      where (lower(device.serial) = lower(newcomer.serial)
          or lower(device.hardware_uuid) = lower(newcomer.uuid))
        and device.host_identifier <> newcomer.host_identifier
        and device.node_key_hash is not null and device.agent_disabled_at is null
      order by device.id limit ${sql.lit(TWINS_MAX)}) as twin
    left join device_contact on device_contact.device_id = twin.id
    order by newcomer.place, twin.id`.execute(tx)
  const twins = Map.groupBy(found.rows, ({ place }) => place)
  return new Map(asked.map((machine, place) => [machine, (twins.get(place) ?? []).map(toRecord)]))
}

interface TwinRow extends Selectable<Schema['device']> {
  readonly place: number
  readonly last_seen_at: Date | null
  readonly contact_address: string | null
}
