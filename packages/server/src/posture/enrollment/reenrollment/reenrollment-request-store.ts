import { sql, type Kysely, type Transaction } from 'kysely'
import type { NewRecord } from '../../../schema/define-table.ts'
import { findRecord, listRecords } from '../../../platform/db/record-table.ts'
import type { Schema } from '../../../schema/schema.ts'
import type { ReenrollmentRequest } from './reenrollment-request-read.ts'
import { rowsOf } from '../../../schema/row-store.ts'

const requests = rowsOf('reenrollment_request', 're-enrollment request')

/** By what a machine is recognised when it asks again. */
export interface Asker {
  readonly hostIdentifier: string
  readonly ipAddress: string | null
  readonly secretId: string
}

/** What a machine asked for that was not let in yet, locked until the transaction ends. */
export async function findOpenRequest(
  tx: Transaction<Schema>,
  { hostIdentifier, ipAddress, secretId }: Asker,
): Promise<ReenrollmentRequest | undefined> {
  return findRecord(
    tx
      .selectFrom('reenrollment_request')
      .selectAll()
      .where('host_identifier', '=', hostIdentifier)
      .where(sql<string>`coalesce(ip_address, '')`, '=', ipAddress ?? '')
      .where('enrollment_secret_id', '=', secretId)
      .where('status', '<>', 'completed')
      .forUpdate(),
  )
}

/** What nobody has decided yet, by ascending id. */
export async function listUndecidedRequests(db: Kysely<Schema>): Promise<ReenrollmentRequest[]> {
  return listRecords(
    db.selectFrom('reenrollment_request').selectAll().where('status', '=', 'pending').orderBy('id'),
  )
}

/** Inserts a request; undefined when the machine has an open one. */
export async function insertReenrollmentRequest(
  tx: Transaction<Schema>,
  values: NewRecord<'reenrollment_request'>,
): Promise<ReenrollmentRequest | undefined> {
  return findRecord(
    tx
      .insertInto('reenrollment_request')
      .values(requests.toInsert(values))
      .onConflict((conflict) => conflict.doNothing())
      .returningAll(),
  )
}

/**
 * The request, locked until the transaction ends.
 *
 * @throws AppError `not_found`
 */
export const getReenrollmentRequestForUpdate = requests.getForUpdate

export const updateReenrollmentRequest = requests.update

/** Deletes the oldest undecided requests for a device beyond the newest `keptCount`. */
export async function deleteSurplusRequests(
  tx: Transaction<Schema>,
  deviceId: string,
  keptCount: number,
): Promise<void> {
  await sql`delete from reenrollment_request where id in (
    select id from reenrollment_request where device_id = ${deviceId} and status = 'pending'
    order by last_requested_at desc, id desc offset ${keptCount})`.execute(tx)
}
