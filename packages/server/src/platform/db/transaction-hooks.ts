import type { Transaction } from 'kysely'

/**
 * What takes part in a transaction without being its work: it comes first and last in it, so that what
 * it writes commits with the work or not at all. Both run again when the transaction does.
 */
export interface TransactionCompanion<Tables = unknown> {
  /** Before the work. What it throws ends the transaction. */
  begin(tx: Transaction<Tables>): Promise<void>
  /** After the work; `result` is what the work returned. */
  complete(tx: Transaction<Tables>, result: unknown): Promise<void>
}
