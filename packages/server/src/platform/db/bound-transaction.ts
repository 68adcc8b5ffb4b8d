import { sql, type QueryExecutorProvider, type RawBuilder } from 'kysely'
import { SECOND_MS } from '../clock.ts'
import { isRunAs } from './pool-turns.ts'
import { UNAWAITED_BOUND } from './unawaited.ts'

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

/** Far longer than most that is written takes. Whoever sent the request is told to send it again. */
const REQUEST_LOCK_MS = 5 * SECOND_MS

/**
 * Has a transaction that a request asks for give up rather than wait for a lock as long as devices and jobs do:
 * somebody waits for its answer, and it keeps a connection from others. A shorter setting of the operator stays. To be
 * called first; takes no round trip.
 */
export async function boundWaitsOfRequest(tx: QueryExecutorProvider): Promise<void> {
  if (!isRunAs('requests')) return
  // Without a setting, which is 0, it would wait for ever.
  await sql`${UNAWAITED_BOUND} select set_config('lock_timeout', ${String(REQUEST_LOCK_MS)}, true)
    where current_setting('lock_timeout')::interval
      not between '1 ms' and ${REQUEST_LOCK_MS} * interval '1 ms'`.execute(tx)
}
