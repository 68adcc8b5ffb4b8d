import type { Command } from 'commander'
import { verifyAuditChain } from '../../changes/audit/verify-audit-chain.ts'
import { createProgress, EXIT_CODES, printJson, printLine, type CommandIo } from '../command-io.ts'
import { runWithServices, withDatabaseFlags } from '../run-command.ts'

/** `heliograph audit verify`: exit code 1 when the chain is broken. */
export function addAuditCommands(program: Command, io: CommandIo): void {
  const audit = program.command('audit').description('The audit log')
  withDatabaseFlags(audit.command('verify'))
    .description('prove that no entry of the audit log was changed or removed')
    .action(async (options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ db }) => {
        const progress = createProgress(io)
        const verdict = await verifyAuditChain(db, (count) =>
          progress.update(`Verified ${count} entries ...`),
        )
        progress.end()
        if (options.json) printJson(io, verdict)
        else if (verdict.isWhole) {
          printLine(
            io,
            `The audit log is whole: ${verdict.entryCount} entries, head ${verdict.head}.`,
          )
        } else {
          printLine(io, `The audit log is broken at entry ${verdict.sequence}: ${verdict.problem}.`)
        }
        if (!verdict.isWhole) io.setExitCode(EXIT_CODES.failed)
      })
    })
}
