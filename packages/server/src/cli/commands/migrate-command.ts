import type { Command } from 'commander'
import { readMigrationState } from '../../schema/migrate.ts'
import { printJson, printLine, type CommandIo } from '../command-io.ts'
import { runWithServices, withDatabaseFlags } from '../run-command.ts'

/** `heliograph migrate`: brings the database up to date, as every other command and the service do. */
export function addMigrateCommand(program: Command, io: CommandIo): void {
  withDatabaseFlags(program.command('migrate'))
    .description('bring the schema of the database up to date')
    .action(async (options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ connection }) => {
        const { applied } = await readMigrationState(connection)
        if (options.json) printJson(io, { applied })
        else printLine(io, `The schema is up to date: ${applied.length} migrations.`)
      })
    })
}
