/*
 * Advisory locks of PostgreSQL: how they are taken. Which ones there are is written down in
 * `schema/lock-keys.ts`, so that no two purposes ever share a lock.
 */
import { sql, type QueryExecutorProvider, type RawBuilder } from 'kysely'

/** The two integers of an advisory lock: its class and its key. */
export type AdvisoryLock = readonly [lockClass: number, key: number]

/** Waits for the lock and holds it until the transaction ends. */
export async function lockInTransaction(
  tx: QueryExecutorProvider,
  lock: AdvisoryLock,
): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.join([...lock])})`.execute(tx)
}

/** Waits for the locks of one class with these keys, by ascending key, and holds them until the transaction ends. */
export async function lockAllInTransaction(
  tx: QueryExecutorProvider,
  lockClass: number,
  keys: readonly number[],
): Promise<void> {
  const sorted = [...new Set(keys)].sort((a, b) => a - b)
  if (sorted.length === 0) return
  await sql`
    select pg_advisory_xact_lock(${lockClass}, key::integer)
    from jsonb_array_elements_text(${JSON.stringify(sorted)}::jsonb) as sorted(key)`.execute(tx)
}

/** Waits until nobody holds the lock alone; holds it, beside others, until the transaction ends. */
export async function shareLockInTransaction(
  tx: QueryExecutorProvider,
  lock: AdvisoryLock,
): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${sql.join([...lock])})`.execute(tx)
}

/**
 * Whether the lock was free; then it is held until the transaction ends. Does not wait. `keys` are the
 * integers of the lock, or one 64-bit number, which can never meet a lock of two integers.
 */
export async function tryLockInTransaction(
  tx: QueryExecutorProvider,
  keys: AdvisoryLock | readonly [bigint],
): Promise<boolean> {
  const { rows } = await sql<{ is_held: boolean }>`select ${tryLockSql(keys)} as is_held`.execute(
    tx,
  )
  return rows[0]?.is_held === true
}

/** The expression of `tryLockInTransaction`, for statements that try many locks. */
export function tryLockSql(
  keys: readonly [lockClass: number, key: number | RawBuilder<number>] | readonly [bigint],
): RawBuilder<boolean> {
  const [first, second] = keys
  return second === undefined
    ? sql<boolean>`pg_try_advisory_xact_lock(${first.toString()}::bigint)`
    : sql<boolean>`pg_try_advisory_xact_lock(${first}::int, ${second}::int)`
}
