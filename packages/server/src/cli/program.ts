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
import { EXIT_CODES, type CommandIo } from './command-io.ts'
import { REGISTERED_COMMANDS, type RegisteredCommand } from './registry.ts'

/** Runs one command line (without the program's own name) to its end. Sets the exit code. */
export async function runProgram(args: readonly string[], io: CommandIo): Promise<void> {
  try {
    const program = await createProgram(findCalled(args), io)
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    io.setExitCode(reportFailure(error, io))
  }
}

/** The name of the command that is called, or that help is asked for: `help keys`. */
function findCalled(args: readonly string[]): string | undefined {
  return args.find((word) => !word.startsWith('-') && word !== 'help')
}

async function createProgram(called: string | undefined, io: CommandIo): Promise<Command> {
  const program = new Command('heliograph')
    .description('Device trust: posture in, signed signals out')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    })
  for (const registered of REGISTERED_COMMANDS) {
    const isCalled = registered.name === called
    program.addCommand(isCalled ? await loadCommand(registered, io) : toPlaceholder(registered))
  }
  inheritSettings(program)
  return program
}

async function loadCommand(
  { name, description, load }: RegisteredCommand,
  io: CommandIo,
): Promise<Command> {
  const define = await load()
  return define(io).name(name).description(description)
}

/** Stands in the help for a command that is not loaded. */
function toPlaceholder({ name, description, hasOptions }: RegisteredCommand): Command {
  const placeholder = new Command(name).description(description)
  return hasOptions === true ? placeholder.option('--json') : placeholder
}

/** Output, and that only main.ts may end the process. */
function inheritSettings(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command)
    inheritSettings(child)
  }
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
