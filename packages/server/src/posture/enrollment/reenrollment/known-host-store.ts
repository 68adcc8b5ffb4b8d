import { sql, type Transaction } from 'kysely'
import { findRecord, listRecords } from '../../../platform/db/record-table.ts'
import type { Schema } from '../../../schema/schema.ts'
import type { Device } from '../../devices/device-store.ts'
import type { Hardware } from '../../devices/hardware-duplicate-store.ts'

/** A device with its last contact. */
export interface ContactedDevice extends Device {
  readonly lastSeenAt: Date | null
  readonly contactAddress: string | null
}

/** The device with a host identifier, locked until the transaction ends. */
export async function findKnownHost(
  tx: Transaction<Schema>,
  hostIdentifier: string,
): Promise<ContactedDevice | undefined> {
  return findRecord(
    selectContacted(tx).where('device.host_identifier', '=', hostIdentifier).forUpdate('device'),
  )
}

/** Of more devices with one serial, an admin looks at the first. */
const TWINS_MAX = 100

/** The devices under other host identifiers that have this hardware and a node key. The hardware is locked. */
export async function listTwins(
  tx: Transaction<Schema>,
  { serial, hardwareUuid: uuid }: Hardware,
  hostIdentifier: string,
): Promise<ContactedDevice[]> {
  if (serial === null && uuid === null) return []
  return listRecords(
    selectContacted(tx)
      .where(
        sql<boolean>`(lower(device.serial) = lower(${serial}::text)
        or lower(device.hardware_uuid) = lower(${uuid}::text))`,
      )
      .where('device.host_identifier', '<>', hostIdentifier)
      .where('device.node_key_hash', 'is not', null)
      .where('device.agent_disabled_at', 'is', null)
      .orderBy('device.id')
      .limit(TWINS_MAX),
  )
}

function selectContacted(tx: Transaction<Schema>) {
  return tx
    .selectFrom('device')
    .leftJoin('device_contact', 'device_contact.device_id', 'device.id')
    .selectAll('device')
    .select(['device_contact.last_seen_at', 'device_contact.ip_address as contact_address'])
}
