import { sql, type Kysely, type RawBuilder, type Selectable, type Transaction } from 'kysely'
import type { NewRecord } from '../../schema/define-table.ts'
import type { Device } from '../devices/device-store.ts'
import { toRecord, toRow } from '../../platform/db/record-table.ts'
import type { Schema } from '../../schema/schema.ts'

/** An enrollment secret that is neither revoked nor expired. */
export interface LiveSecret {
  readonly id: string
  readonly personId: string | null
  readonly createdAt: Date
  /** Enrollments that are left of its maximum; null without one. */
  readonly usesLeft: number | null
}

interface LiveSecretRow extends LiveSecret {
  readonly secretHash: Buffer
}

/** The secret with this hash, unless it is revoked or expired; locks nothing. */
export async function findLiveSecret(
  db: Kysely<Schema>,
  secretHash: Buffer,
  at: Date,
): Promise<LiveSecret | undefined> {
  const { rows } = await selectLiveSecrets([secretHash], at).execute(db)
  return rows[0]
}

/**
 * The secrets with these hashes, each behind its hash in hexadecimal digits. Those with a maximum of uses are locked
 * until the transaction ends, by ascending id, so that no two take the last use.
 */
export async function lockLiveSecrets(
  tx: Transaction<Schema>,
  secretHashes: readonly Buffer[],
  at: Date,
): Promise<Map<string, LiveSecret>> {
  const select = selectLiveSecrets(secretHashes, at)
  const { rows } = await select.execute(tx)
  const isAnyLimited = rows.some(({ usesLeft }) => usesLeft !== null)
  const limited = isAnyLimited
    ? await sql<LiveSecretRow>`
        ${select} and uses_max is not null order by id for update of enrollment_secret`.execute(tx)
    : { rows: [] }
  const unlimited = rows.filter(({ usesLeft }) => usesLeft === null)
  return new Map(
    [...unlimited, ...limited.rows].map((secret) => [secret.secretHash.toString('hex'), secret]),
  )
}

function selectLiveSecrets(hashes: readonly Buffer[], at: Date): RawBuilder<LiveSecretRow> {
  const wanted = JSON.stringify([...new Set(hashes.map((hash) => hash.toString('hex')))])
  return sql<LiveSecretRow>`
    select id, person_id as "personId", created_at as "createdAt", secret_hash as "secretHash",
      case when uses_max is not null then greatest(uses_max - use_count, 0) end::float8 as "usesLeft"
    from enrollment_secret
    where secret_hash = any(array(
        select decode(hash, 'hex') from jsonb_array_elements_text(${wanted}::jsonb) as wanted(hash)))
      and revoked_at is null and (expires_at is null or expires_at > ${at})`
}

/** A device as it is when it enrolls for the first time. */
export type EnrolledDevice = Pick<
  NewRecord<'device'>,
  | 'createdAt'
  | 'enrolledAt'
  | 'enrolledFrom'
  | 'enrollmentSecretId'
  | 'hardwareModel'
  | 'hardwareUuid'
  | 'hostIdentifier'
  | 'name'
  | 'operatingSystem'
  | 'osqueryVersion'
  | 'ownerPersonId'
  | 'platform'
  | 'registeredAt'
  | 'serial'
  | 'updatedAt'
> & { readonly nodeKeyHash: Buffer }

/** Inserts devices and answers them; those with a host identifier that another device has are left out. */
export async function insertDevices(
  tx: Transaction<Schema>,
  devices: readonly EnrolledDevice[],
): Promise<Device[]> {
  if (devices.length === 0) return []
  const rows = devices.map((device) => ({
    ...toRow(device),
    node_key_hash: `\\x${device.nodeKeyHash.toString('hex')}`,
  }))
  // In one order, so that two that insert the same hosts do not wait for each other.
  const inserted = await sql<Selectable<Schema['device']>>`
    insert into device (${ENROLLED_COLUMNS})
    select ${ENROLLED_COLUMNS} from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as enrolled(
      host_identifier text, name text, platform text, operating_system text, hardware_model text,
      serial text, hardware_uuid text, osquery_version text, enrollment_secret_id bigint,
      enrolled_at timestamptz, enrolled_from text, node_key_hash bytea, owner_person_id bigint,
      registered_at timestamptz, created_at timestamptz, updated_at timestamptz)
    order by host_identifier
    on conflict (host_identifier) do nothing
    returning *`.execute(tx)
  return inserted.rows.map(toRecord)
}

const ENROLLED_COLUMNS = sql`host_identifier, name, platform, operating_system, hardware_model,
  serial, hardware_uuid, osquery_version, enrollment_secret_id, enrolled_at, enrolled_from,
  node_key_hash, owner_person_id, registered_at, created_at, updated_at`
