import type { Kysely } from 'kysely'
import type { ServiceFoundation } from '../src/app/foundation.ts'
import { openDatabase } from '../src/platform/db/database.ts'
import type { Schema } from '../src/schema/schema.ts'

/** How the owner of the tables is reached. */
export type OwnedDatabase = Pick<ServiceFoundation, 'network' | 'ownerConnection'>

/** Runs `work` as the role that owns the tables: what a benchmark does to them the service may not. */
export async function asOwner<Result>(
  { network, ownerConnection }: OwnedDatabase,
  work: (db: Kysely<Schema>) => Promise<Result>,
): Promise<Result> {
  const owner = openDatabase<Schema>(ownerConnection, {
    network,
    poolMax: 1,
    // Filling tables takes minutes.
    statementTimeoutMs: 0,
    logError: () => undefined,
  })
  try {
    return await work(owner.db)
  } finally {
    await owner.close()
  }
}
