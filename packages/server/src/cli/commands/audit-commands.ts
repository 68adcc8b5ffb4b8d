import { verifyAuditChain } from '../../changes/audit/verify-audit-chain.ts'
import { createProgress } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'

const verify = databaseCommand({
  name: 'verify',
  description: 'prove that no entry of the audit log was changed or removed',
  async run({ io, services }) {
    const progress = createProgress(io)
    try {
      return await verifyAuditChain(services.db, (count) =>
        progress.update(`Verified ${count} entries ...`),
      )
    } finally {
      progress.end()
    }
  },
  text: (verdict) =>
    verdict.isWhole
      ? `The audit log is whole: ${verdict.entryCount} entries, head ${verdict.head}.`
      : `The audit log is broken at entry ${verdict.sequence}: ${verdict.problem}.`,
  isFailed: ({ isWhole }) => !isWhole,
})

/** `heliograph audit verify`: exit code 1 when the chain is broken. */
export const auditCommands = commandGroup([verify])
