import { sql, type QueryExecutorProvider, type RawBuilder } from 'kysely'

/** How long a transaction waits for each lock, and how long a statement of it may take. */
export interface TransactionBounds {
  readonly lockMs: number
  readonly statementMs: number
}

/** Has the transaction give up rather than wait, or work for long. */
export async function boundTransaction(
  tx: QueryExecutorProvider,
  { lockMs, statementMs }: TransactionBounds,
): Promise<void> {
  await sql`select set_config('lock_timeout', ${String(lockMs)}, true),
    set_config('statement_timeout', ${String(statementMs)}, true)`.execute(tx)
}

/**
 * A row to be read before the first lock of a statement: from then on its transaction waits no longer than that for
 * each lock, and the statements after it take no longer than that. It takes no round trip of its own, nor a setting of
 * the session, which poolers do not keep.
 */
export function boundsFromHere({ lockMs, statementMs }: TransactionBounds): RawBuilder<unknown> {
  return sql`select set_config('lock_timeout', ${String(lockMs)}::text, true),
    set_config('statement_timeout', ${String(statementMs)}::text, true)`
}
