import { sql, type QueryExecutorProvider } from 'kysely'

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
