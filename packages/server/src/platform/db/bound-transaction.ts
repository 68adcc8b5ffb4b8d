import { sql, type QueryExecutorProvider } from 'kysely'

/** Has the transaction give up rather than wait, or work for long. */
export async function boundTransaction(
  tx: QueryExecutorProvider,
  { lockMs, statementMs }: { readonly lockMs: number; readonly statementMs: number },
): Promise<void> {
  await sql`select set_config('lock_timeout', ${String(lockMs)}, true),
    set_config('statement_timeout', ${String(statementMs)}, true)`.execute(tx)
}
