import { NO_ROW } from '../../platform/retention/aging-rows-store.ts'
import type { RetentionPolicy } from '../../platform/retention/retention-policy.ts'
import { retention } from '../../schema/retention.ts'
import { CUT_BATCH_SIZE, cutAuditChain, type CutDependencies } from './cut-audit-chain.ts'

/** The oldest entries, where a checkpoint covers them. A cut is a change, which leaves an entry about itself. */
export function auditRetention(dependencies: CutDependencies, days: number): RetentionPolicy {
  return retention('audit entries', days, {
    when: NO_ROW,
    runBatch: async (_tx, { before }) => {
      const { entryCount } = await cutAuditChain(dependencies, before)
      return { count: entryCount, place: null, isOver: entryCount < CUT_BATCH_SIZE }
    },
  })
}
