import type { QueryExecutorProvider } from 'kysely'
import type {
  RetentionBatch,
  RetentionPlace,
  RetentionPolicy,
} from '../../src/platform/retention/retention-policy.ts'

/** Makes a whole pass of a policy at a time, without what the sweep adds; answers how many rows it ended. */
export async function runRetention(
  db: QueryExecutorProvider,
  { runBatch, keepsMs, batchSize }: RetentionPolicy,
  now: Date,
  {
    from = null,
    limit = batchSize,
  }: { readonly from?: RetentionPlace | null; readonly limit?: number } = {},
): Promise<RetentionBatch> {
  if (keepsMs === null) throw new Error('keeps for ever')
  const before = new Date(now.getTime() - keepsMs)
  let total = 0
  let after = from
  for (;;) {
    const batch = await runBatch(db, { before, after, limit })
    total += batch.count
    if (batch.isOver) return { ...batch, count: total }
    after = batch.place
  }
}
