import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import type { Schema } from '../src/schema/schema.ts'

/** PostgreSQL's sessions report what they did at the latest after this time of doing nothing. */
const REPORT_DELAY_MS = 10_500

/** A reading of the database's own counters. */
export interface TransactionReading {
  readonly transactions: number
  readonly atMs: number
}

/**
 * Reads how many transactions the database has run, once every session has reported. A statement
 * outside a transaction is a transaction of its own, so that no query escapes.
 */
export async function readTransactions(
  db: Kysely<Schema>,
  signal: AbortSignal,
): Promise<TransactionReading> {
  await sleep(REPORT_DELAY_MS, undefined, { signal })
  const { rows } = await sql<{ count: string }>`
    select xact_commit + xact_rollback as count from pg_stat_database
    where datname = current_database()`.execute(db)
  return { transactions: Number(rows[0]?.count ?? 0), atMs: performance.now() }
}
