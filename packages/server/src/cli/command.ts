/*
 * What a command is: a declaration of its arguments, options and output, and the work between them.
 * Owns how a declaration becomes a command of Commander and how a result is printed; which commands
 * there are is in registry.ts.
 */
import { Command } from 'commander'
import type { ServiceFoundation } from '../app/foundation.ts'
import type { Change } from '../changes/change.ts'
import { EXIT_CODES, printJson, printLine, type CommandIo } from './command-io.ts'
import { JSON_FLAG, type OptionSpec } from './option.ts'
import { COMMAND_LINE_ORIGIN, DATABASE_OPTIONS, runWithServices } from './run-command.ts'

type OptionSpecs = Readonly<Record<string, OptionSpec<unknown>>>

/** The values of options, by the names that the flags have in the code. */
export type OptionValues<Options extends OptionSpecs> = {
  readonly [Name in keyof Options]: Options[Name]['value']
}

type ArgumentName<Usage extends string> = Usage extends `${string}<${infer Name}>${infer Rest}`
  ? Name | ArgumentName<Rest>
  : never

/** What the work of a command is given. */
export interface CommandContext<
  Usage extends string = string,
  Options extends OptionSpecs = OptionSpecs,
> {
  readonly io: CommandIo
  /** The required arguments by name. */
  readonly args: Readonly<Record<ArgumentName<Usage>, string>>
  readonly options: OptionValues<Options>
  /** The command as it was parsed, for what is optional. */
  readonly parsed: Command
}

/** What the work of a command on the database is given. */
interface DatabaseContext<Usage extends string, Options extends OptionSpecs> extends CommandContext<
  Usage,
  Options
> {
  readonly services: ServiceFoundation
  /** Makes one change in the name of the command line. */
  readonly change: <Result>(work: (change: Change) => Promise<Result>) => Promise<Result>
}

/**
 * A command. With `--json` it prints its result, or what `json` makes of it; otherwise its `text`. A
 * command that declares neither prints by itself.
 */
interface CommandSpec<Usage extends string, Options extends OptionSpecs, Context, Result> {
  /** The name and the arguments: `rotate <id>`. */
  readonly name: Usage
  readonly description: string
  /** The keys are the flags in camel case (`--first-name`: `firstName`). */
  readonly options?: Options
  readonly run: (context: Context) => Promise<Result>
  readonly json?: (result: Result, context: Context) => unknown
  readonly text?: (result: Result, context: Context) => string | readonly string[]
  /** Whether a result means exit code 1. */
  readonly isFailed?: (result: Result) => boolean
}

/** Makes the command for one process. */
export type CommandDefinition = (io: CommandIo) => Command

/** Declares a command that does not open the database. */
export function command<
  Usage extends string,
  Result,
  Options extends OptionSpecs = Record<never, never>,
>(
  spec: CommandSpec<Usage, Options, CommandContext<Usage, Options>, Result> & {
    /** Flags that `readFlags` reads. */
    readonly shared?: readonly OptionSpec<unknown>[]
  },
): CommandDefinition {
  return (io) => {
    const made = toCommand(spec, spec.shared ?? [])
    return made.action(async () => {
      const context = readContext<Usage, Options>(made, io)
      print(spec, await spec.run(context), context)
    })
  }
}

/**
 * Declares a command on the database of the data folder or of DATABASE_URL. It takes the flags that
 * choose the database, and `--json`.
 */
export function databaseCommand<
  Usage extends string,
  Result,
  Options extends OptionSpecs = Record<never, never>,
>(
  spec: CommandSpec<Usage, Options, DatabaseContext<Usage, Options>, Result> & {
    /** Whether it makes the database of a data folder that has none; default false. */
    readonly mayMakeDatabase?: boolean
  },
): CommandDefinition {
  return (io) => {
    const { mayMakeDatabase = false } = spec
    const made = toCommand(spec, [JSON_FLAG, ...DATABASE_OPTIONS])
    return made.action(async () => {
      await runWithServices(io, made, { mayMakeDatabase }, async (services) => {
        const context: DatabaseContext<Usage, Options> = {
          ...readContext<Usage, Options>(made, io),
          services,
          change: (work) => services.runChange(COMMAND_LINE_ORIGIN, work),
        }
        print(spec, await spec.run(context), context)
      })
    })
  }
}

/** What a module of commands/ gives the registry: its commands, one or a group. */
export function commandGroup(definitions: readonly CommandDefinition[]): CommandDefinition {
  return (io) => {
    const group = new Command()
    for (const define of definitions) group.addCommand(define(io))
    return group
  }
}

function toCommand(
  spec: { name: string; description: string; options?: OptionSpecs },
  shared: readonly OptionSpec<unknown>[],
): Command {
  const [name = '', ...usage] = spec.name.split(' ')
  const made = new Command(name).description(spec.description)
  if (usage.length > 0) made.arguments(usage.join(' '))
  for (const { option } of [...shared, ...Object.values(spec.options ?? {})]) made.addOption(option)
  return made
}

function readContext<Usage extends string, Options extends OptionSpecs>(
  parsed: Command,
  io: CommandIo,
): CommandContext<Usage, Options> {
  const args = Object.fromEntries(
    parsed.registeredArguments.map((argument, at) => [argument.name(), parsed.args[at]]),
  )
  const options = parsed.opts()
  return { io, parsed, args, options } as unknown as CommandContext<Usage, Options>
}

function print<Context extends CommandContext<never>, Result>(
  { json, text, isFailed }: CommandSpec<string, OptionSpecs, Context, Result>,
  result: Result,
  context: Context,
): void {
  const { io, options } = context
  if (isFailed?.(result) === true) io.setExitCode(EXIT_CODES.failed)
  if (text === undefined && json === undefined) return
  if (options['json'] === true) {
    printJson(io, json === undefined ? result : json(result, context))
    return
  }
  const lines = text?.(result, context) ?? []
  for (const line of typeof lines === 'string' ? [lines] : lines) printLine(io, line)
}
