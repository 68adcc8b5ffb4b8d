import type { Kysely } from 'kysely'
import type { Schema } from '../../src/schema/schema.ts'
import { wholeToken } from '../../src/signals/dispatch/detached-token.ts'

/** The tokens of all deliveries in the order of their ids; null of those that are not signed. */
export async function listStoredTokens(db: Kysely<Schema>): Promise<(string | null)[]> {
  const rows = await db
    .selectFrom('delivery')
    .select(['body', 'token', 'detached_token as detachedToken'])
    .orderBy('id')
    .execute()
  return rows.map(wholeToken)
}
