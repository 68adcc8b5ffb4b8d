/*
 * The command line: what commands exist and how their failures are told. What a command does is in
 * commands/; the process itself is touched by main.ts alone.
 */
import { Command, CommanderError } from 'commander'
import { ConfigError } from '../app/config/load-config.ts'
import { AppError } from '../platform/app-error.ts'
import { DatabaseStartError } from '../platform/db/embedded/database-start-error.ts'
import { MigrationError } from '../schema/migration-error.ts'
import { isAccessRefusal, toUnavailable } from '../platform/db/unavailable.ts'
import { addAdminCommands } from './commands/admin-commands.ts'
import { addAuditCommands } from './commands/audit-commands.ts'
import { addBenchCommand } from './commands/bench-command.ts'
import { addEnrollmentSecretCommands } from './commands/enrollment-secret-commands.ts'
import { addKeyCommands } from './commands/key-commands.ts'
import { addOrganisationCommands } from './commands/organisation-commands.ts'
import { addDeliveryCommands } from './commands/delivery-commands.ts'
import { addDemoCommand } from './commands/demo-command.ts'
import { addDeviceCommands } from './commands/device-commands.ts'
import { addDeviceGroupCommands } from './commands/device-group-commands.ts'
import { addMigrateCommand } from './commands/migrate-command.ts'
import { addReceiverCommands } from './commands/receiver-commands.ts'
import { addReportingCommands } from './commands/reporting-commands.ts'
import { addServeCommand } from './commands/serve-command.ts'
import { addSigningKeyCommands } from './commands/signing-key-commands.ts'
import { addSimulateCommand } from './commands/simulate-command.ts'
import { addSsfClientCommands } from './commands/ssf-client-commands.ts'
import { addStreamCommands } from './commands/stream-commands.ts'
import { addWebhookCommands } from './commands/webhook-commands.ts'
import { EXIT_CODES, type CommandIo } from './command-io.ts'

/** Runs one command line (without the program's own name) to its end. Sets the exit code. */
export async function runProgram(args: readonly string[], io: CommandIo): Promise<void> {
  const program = await createProgram(io)
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    io.setExitCode(reportFailure(error, io))
  }
}

async function createProgram(io: CommandIo): Promise<Command> {
  const program = new Command('heliograph')
    .description('Device trust: posture in, signed signals out')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    })
  addAdminCommands(program, io)
  addAuditCommands(program, io)
  await addBenchCommand(program, io)
  addEnrollmentSecretCommands(program, io)
  addKeyCommands(program, io)
  addOrganisationCommands(program, io)
  addDeliveryCommands(program, io)
  addDemoCommand(program, io)
  addDeviceCommands(program, io)
  addDeviceGroupCommands(program, io)
  addMigrateCommand(program, io)
  addReceiverCommands(program, io)
  addReportingCommands(program, io)
  addServeCommand(program, io)
  addSigningKeyCommands(program, io)
  addSimulateCommand(program, io)
  addSsfClientCommands(program, io)
  addStreamCommands(program, io)
  addWebhookCommands(program, io)
  overrideExit(program)
  return program
}

/** Sub-commands do not inherit the override, and only main.ts may end the process. */
function overrideExit(command: Command): void {
  command.exitOverride()
  for (const child of command.commands) overrideExit(child)
}

function reportFailure(error: unknown, io: CommandIo): number {
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? EXIT_CODES.ok : EXIT_CODES.usage
  }
  if (error instanceof ConfigError) return tell(io, error.message, EXIT_CODES.usage)
  if (error instanceof DatabaseStartError || error instanceof MigrationError) {
    return tell(io, error.message, EXIT_CODES.unavailable)
  }
  if (isAccessRefusal(error)) {
    return tell(io, `The database refused access: ${error.message}.`, EXIT_CODES.unavailable)
  }
  const refusal = error instanceof AppError ? error : toUnavailable(error)
  if (refusal instanceof AppError) {
    const code = refusal.kind === 'unavailable' ? EXIT_CODES.unavailable : EXIT_CODES.failed
    return tell(io, refusal.message, code)
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return tell(io, `Unexpected fault: ${text}`, EXIT_CODES.failed)
}

function tell(io: CommandIo, message: string, exitCode: number): number {
  io.stderr.write(`${message}\n`)
  return exitCode
}
