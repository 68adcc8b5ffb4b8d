import type { Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** A host whose device was deleted and whose agent may still try to enroll. */
export interface RemovedHost {
  readonly host_identifier: string
  readonly device_name: string
  readonly removed_at: Date
}

/** Keeps a host out, or moves the time from which it is kept out. */
export async function upsertRemovedHost(tx: Transaction<Schema>, host: RemovedHost): Promise<void> {
  const { device_name, removed_at } = host
  await tx
    .insertInto('removed_host')
    .values(host)
    .onConflict((conflict) =>
      conflict.column('host_identifier').doUpdateSet({ device_name, removed_at }),
    )
    .execute()
}

export async function findRemovedHost(
  tx: Transaction<Schema>,
  hostIdentifier: string,
): Promise<RemovedHost | undefined> {
  return tx
    .selectFrom('removed_host')
    .selectAll()
    .where('host_identifier', '=', hostIdentifier)
    .executeTakeFirst()
}

/** Lets a host in again; answers it, or undefined when it was not kept out. */
export async function deleteRemovedHost(
  tx: Transaction<Schema>,
  hostIdentifier: string,
): Promise<RemovedHost | undefined> {
  return tx
    .deleteFrom('removed_host')
    .where('host_identifier', '=', hostIdentifier)
    .returningAll()
    .executeTakeFirst()
}
