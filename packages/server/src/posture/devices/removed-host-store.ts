import { sql, type Transaction } from 'kysely'
import { findRecord, listRecords } from '../../platform/db/record-table.ts'
import { defineTable } from '../../schema/define-table.ts'
import type { Schema } from '../../schema/schema.ts'

const hosts = defineTable('removed_host')

/** A host whose device was deleted and whose agent may still try to enroll. */
export interface RemovedHost {
  readonly hostIdentifier: string
  readonly deviceName: string
  readonly removedAt: Date
}

/** Keeps a host out, or moves the time from which it is kept out. */
export async function upsertRemovedHost(tx: Transaction<Schema>, host: RemovedHost): Promise<void> {
  const { deviceName, removedAt } = host
  await tx
    .insertInto('removed_host')
    .values(hosts.toInsert(host))
    .onConflict((conflict) =>
      conflict
        .column('host_identifier')
        .doUpdateSet({ device_name: deviceName, removed_at: removedAt }),
    )
    .execute()
}

/** The hosts among these that are kept out. */
export async function listRemovedHosts(
  tx: Transaction<Schema>,
  hostIdentifiers: readonly string[],
): Promise<RemovedHost[]> {
  const wanted = JSON.stringify(hostIdentifiers)
  return listRecords(
    tx
      .selectFrom('removed_host')
      .selectAll()
      .where(
        sql<boolean>`host_identifier = any(array(
          select jsonb_array_elements_text(${wanted}::jsonb)))`,
      ),
  )
}

/** Lets a host in again; answers it, or undefined when it was not kept out. */
export async function deleteRemovedHost(
  tx: Transaction<Schema>,
  hostIdentifier: string,
): Promise<RemovedHost | undefined> {
  return findRecord(
    tx.deleteFrom('removed_host').where('host_identifier', '=', hostIdentifier).returningAll(),
  )
}
