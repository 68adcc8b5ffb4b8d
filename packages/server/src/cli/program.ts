/*
 * The command line: which command is called and what its exit code is. What a command does is in
 * commands/; the process itself is touched by main.ts alone.
 */
import { Command, CommanderError } from 'commander'
import { EXIT_CODES, type CommandIo } from './command-io.ts'
import { REGISTERED_COMMANDS, type RegisteredCommand } from './registry.ts'

/** Runs one command line (without the program's own name) to its end. Sets the exit code. */
export async function runProgram(args: readonly string[], io: CommandIo): Promise<void> {
  try {
    const program = await createProgram(findCalled(args), io)
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    io.setExitCode(await toExitCode(error, io))
  }
}

/** Help ends as an error of Commander too, and shall load nothing. */
async function toExitCode(error: unknown, io: CommandIo): Promise<number> {
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? EXIT_CODES.ok : EXIT_CODES.usage
  }
  const { reportFailure } = await import('./report-failure.ts')
  return reportFailure(error, io)
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
  const { definition } = await load()
  return definition(io).name(name).description(description)
}

/** Stands in the help for a command that is not loaded. */
function toPlaceholder({ name, description, hasOptions }: RegisteredCommand): Command {
  const placeholder = new Command(name).description(description)
  return hasOptions ? placeholder.option('--json') : placeholder
}

/** Output, and that only main.ts may end the process. */
function inheritSettings(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command)
    inheritSettings(child)
  }
}
