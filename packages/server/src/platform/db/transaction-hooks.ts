import type { Transaction } from 'kysely'

/**
 * Runs first and last in the transaction of somebody else's work. What the hooks write commits with the
 * work or not at all. Both run again when the transaction does.
 */
export interface TransactionHooks<Tables = unknown> {
  /** Before the work. What it throws ends the transaction. */
  begin(tx: Transaction<Tables>): Promise<void>
  /** After the work; `result` is what the work returned. */
  complete(tx: Transaction<Tables>, result: unknown): Promise<void>
}
