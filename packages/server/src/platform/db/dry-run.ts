import { sql, type Transaction } from 'kysely'

/**
 * Runs `work` in an open transaction and takes back what it wrote; locks that it took are given back
 * too. An error is passed on as it is: the transaction cannot go on then. Not to be nested.
 */
export async function dryRun<Database, Result>(
  tx: Transaction<Database>,
  work: () => Promise<Result>,
): Promise<Result> {
  await sql`savepoint dry_run`.execute(tx)
  const result = await work()
  await sql`rollback to savepoint dry_run`.execute(tx)
  // What follows belongs to the transaction itself again, not to one inside it.
  await sql`release savepoint dry_run`.execute(tx)
  return result
}
