import type { Command } from 'commander'
import {
  createReportingQuery,
  removeReportingQuery,
} from '../../posture/reporting/create-reporting-query.ts'
import { listReportingQueries } from '../../posture/reporting/reporting-query-store.ts'
import { toColumnName } from '../../posture/reporting/reporting-table.ts'
import { REPORTING_TABLES } from '../../posture/reporting/reporting-tables.ts'
import { printJson, printLine, printTable, type CommandIo } from '../command-io.ts'
import { COMMAND_LINE_ORIGIN, runWithServices, withDatabaseFlags } from '../run-command.ts'

const SHOWN_MAX = 10_000

/** `heliograph reporting-queries create|list|delete` and `heliograph reporting-tables`. */
export function addReportingCommands(program: Command, io: CommandIo): void {
  const queries = program
    .command('reporting-queries')
    .description('Saved SQL over the tables that devices report')
  withDatabaseFlags(queries.command('create'))
    .description('save a query')
    .requiredOption('--name <name>', 'what the query answers')
    .requiredOption('--sql <select>', 'one SELECT over the reporting tables')
    .action(async (options: { name: string; sql: string; json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        const query = await runChange(COMMAND_LINE_ORIGIN, (change) =>
          createReportingQuery(change, options),
        )
        if (options.json) printJson(io, { id: query.id, name: query.name, sql: query.sql })
        else printLine(io, `Saved the reporting query ${query.name} (${query.id}).`)
      })
    })
  withDatabaseFlags(queries.command('list'))
    .description('list the saved queries')
    .action(async (options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ db }) => {
        const all = await listReportingQueries(db, { afterId: undefined, limit: SHOWN_MAX })
        const rows = all.map(({ id, name, sql }) => ({ id, name, sql }))
        if (options.json) printJson(io, rows)
        else {
          printTable(
            io,
            ['ID', 'NAME', 'SQL'],
            rows.map(({ id, name, sql }) => [id, name, sql.replace(/\s+/g, ' ')]),
          )
        }
      })
    })
  withDatabaseFlags(queries.command('delete <id>'))
    .description('delete a saved query and its results')
    .action(async (id: string, options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        const query = await runChange(COMMAND_LINE_ORIGIN, (change) =>
          removeReportingQuery(change, id),
        )
        if (options.json) printJson(io, { id: query.id })
        else printLine(io, `Deleted the reporting query ${query.name} (${query.id}).`)
      })
    })
  program
    .command('reporting-tables')
    .description('the tables that reporting queries can read')
    .option('--json', 'print JSON')
    .action((options: { json?: true }) => {
      if (options.json) printJson(io, REPORTING_TABLES)
      else {
        printTable(
          io,
          ['TABLE', 'DESCRIPTION', 'COLUMNS'],
          REPORTING_TABLES.map((table) => [
            table.name,
            table.description,
            table.columns.map((column) => toColumnName(table, column)).join(', '),
          ]),
        )
      }
    })
}
