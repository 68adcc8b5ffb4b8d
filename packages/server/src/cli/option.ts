import { Option } from 'commander'
import { parseText, parseTime, parseWhole } from './parse-arguments.ts'

/**
 * An option of a command, with the type that its value has. Options are declared once and may be
 * shared by commands.
 */
export class OptionSpec<Value> {
  readonly option: Option
  /** For the types only. */
  declare readonly value: Value

  constructor(option: Option) {
    this.option = option
  }

  /** The command is refused without it. */
  required(): OptionSpec<NonNullable<Value>> {
    return new OptionSpec(this.option.makeOptionMandatory())
  }

  /** What the option is when it is not given. */
  default(value: NonNullable<Value>): OptionSpec<NonNullable<Value>> {
    return new OptionSpec(this.option.default(value))
  }

  /** Refused together with the option of this name in the code. */
  conflicts(name: string): this {
    this.option.conflicts(name)
    return this
  }
}

/** `--name <value>`: a text. */
export function option(flags: string, description: string): OptionSpec<string | undefined> {
  return new OptionSpec(new Option(flags, description))
}

/** `--name <value>`: what `parse` makes of a text; it throws `InvalidArgumentError`. */
export function parsedOption<Value>(
  flags: string,
  description: string,
  parse: (text: string) => Value,
): OptionSpec<Value | undefined> {
  return new OptionSpec(new Option(flags, description).argParser(parse))
}

/** `--name <value>`: a text of 1 to `max` characters. */
export function textOption(
  flags: string,
  description: string,
  max: number,
): OptionSpec<string | undefined> {
  return parsedOption(flags, description, parseText(max))
}

/** `--name <n>`: a whole number between two bounds. */
export function wholeOption(
  flags: string,
  description: string,
  max: number,
  min = 1,
): OptionSpec<number | undefined> {
  return parsedOption(flags, description, parseWhole(min, max))
}

/** `--name <time>`: a date or date and time of ISO 8601. */
export function timeOption(flags: string, description: string): OptionSpec<Date | undefined> {
  return parsedOption(flags, description, parseTime)
}

/** `--name <value>`, which may be given several times. */
export function repeatedOption<Value>(
  flags: string,
  description: string,
  parse: (text: string) => Value,
): OptionSpec<Value[] | undefined> {
  const collect = (text: string, previous: readonly Value[] | undefined): Value[] => [
    ...(previous ?? []),
    parse(text),
  ]
  return new OptionSpec(new Option(flags, description).argParser(collect))
}

/** `--name <value...>`: one text or several. */
export function listOption(flags: string, description: string): OptionSpec<string[] | undefined> {
  return new OptionSpec(new Option(flags, description))
}

/** `--name <value>`: one of some words. */
export function choiceOption<const Choice extends string>(
  flags: string,
  description: string,
  choices: readonly Choice[],
): OptionSpec<Choice | undefined> {
  return new OptionSpec(new Option(flags, description).choices(choices))
}

/** `--name`, without a value. */
export function flag(flags: string, description: string): OptionSpec<true | undefined> {
  return new OptionSpec(new Option(flags, description))
}

/** `--json` of a command that does not work on the database; the others have it anyway. */
export const JSON_FLAG = flag('--json', 'print JSON')
