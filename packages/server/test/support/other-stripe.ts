import { sql, type Kysely, type Transaction } from 'kysely'
import type { Schema } from '../../src/schema/schema.ts'

/** Where the connection of a transaction counts what it counts. */
export async function readStripe(tx: Transaction<Schema>): Promise<number> {
  const { rows } = await sql<{ stripe: number }>`select counter_stripe() as stripe`.execute(tx)
  return rows[0]?.stripe ?? -1
}

/** Runs in a transaction of a connection that counts elsewhere; one that does not is kept busy meanwhile. */
export async function onOtherStripe(
  db: Kysely<Schema>,
  stripe: number,
  run: (tx: Transaction<Schema>) => Promise<void>,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const isOther = (await readStripe(tx)) !== stripe
    await (isOther ? run(tx) : onOtherStripe(db, stripe, run))
  })
}
