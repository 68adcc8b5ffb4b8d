import type { Transaction } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/**
 * What takes part in a transaction without being its work: it comes first and last in it, so that what
 * it writes commits with the work or not at all. Both run again when the transaction does.
 */
export interface TransactionCompanion {
  /** Before the work. What it throws ends the transaction. */
  begin(tx: Transaction<Schema>): Promise<void>
  /** After the work; `result` is what the work returned. */
  complete(tx: Transaction<Schema>, result: unknown): Promise<void>
}
