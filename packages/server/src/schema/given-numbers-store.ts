/*
 * Numbers that a database gave out after its backup are known outside and lost inside. SQL only.
 */
import { sql, type Transaction } from 'kysely'
import type { Schema } from './schema.ts'

/**
 * Has every record get an id above all that can have been given out, and answers the number that none is below: the
 * microseconds since 1970. Is not undone with the transaction, which does no harm.
 */
export async function skipGivenNumbers(tx: Transaction<Schema>): Promise<string> {
  const { rows } = await sql<{ least: string }>`select skip_given_numbers() as least`.execute(tx)
  const least = rows[0]?.least
  if (least === undefined) throw new Error('The server did not tell a number')
  return least
}
