import type { Transaction } from 'kysely'
import { findRecord } from '../../platform/db/record-table.ts'
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

export async function findRemovedHost(
  tx: Transaction<Schema>,
  hostIdentifier: string,
): Promise<RemovedHost | undefined> {
  return findRecord(
    tx.selectFrom('removed_host').selectAll().where('host_identifier', '=', hostIdentifier),
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
