import { once } from 'node:events'

/** What a command may touch of its process; main.ts makes the real one. */
export interface CommandIo {
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly stdin: NodeJS.ReadStream
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly interruption: AbortSignal
  /** Aborted by that, and when nobody reads the standard output any more: services heed the interruption alone. */
  readonly signal: AbortSignal
  setExitCode(code: number): void
}

/** The exit codes of every command. */
export const EXIT_CODES = {
  ok: 0,
  /** The command was understood and could not be done. */
  failed: 1,
  /** The command line or the configuration is wrong. */
  usage: 2,
  /** The database, or something else of the system such as a port or a file, cannot be had. */
  unavailable: 3,
} as const

/** More of anything than a terminal is read for: lists are shown whole. */
export const EVERYTHING = { afterId: undefined, limit: 10_000 } as const

/** Resolves when a signal is aborted. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}

/** What a terminal carries out or reorders by instead of showing it. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu
const CONTROLS_BUT_LINES = /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

/**
 * A text of several lines as a terminal may get it. Names come from devices and receivers: one could clear the screen.
 * The escapes are those of JSON, in which a text stays the same by them.
 */
export function toTerminalText(text: string): string {
  return escapeAll(text, CONTROLS_BUT_LINES)
}

function escapeAll(text: string, pattern: RegExp): string {
  return text.replace(
    pattern,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Prints one JSON document to the standard output. */
export function printJson(io: CommandIo, value: unknown): void {
  io.stdout.write(`${toTerminalText(JSON.stringify(value, null, 2))}\n`)
}

/** Prints a line for people to the standard output; it stays one whatever names are in it. */
export function printLine(io: CommandIo, line: string): void {
  io.stdout.write(`${escapeAll(line, CONTROLS)}\n`)
}

/** Rows under headings in aligned columns. */
export function toTableLines(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const lines = [headings, ...rows].map((line) => line.map((cell) => escapeAll(cell, CONTROLS)))
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  )
  return lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** Items as a table: a function for the text of each column, by its heading. */
export function toTable<Item>(
  items: readonly Item[],
  columns: Readonly<Record<string, (item: Item) => string>>,
): string[] {
  const cells = Object.values(columns)
  const rows = items.map((item) => cells.map((toCell) => toCell(item)))
  return toTableLines(Object.keys(columns), rows)
}

/** A progress line on the standard error: redrawn on a terminal, silent elsewhere. */
export function createProgress(io: CommandIo): { update(text: string): void; end(): void } {
  const isTerminal = io.stderr.isTTY
  return {
    update: (text) => {
      if (isTerminal) io.stderr.write(`\r\u001b[2K${text}`)
    },
    end: () => {
      if (isTerminal) io.stderr.write('\r\u001b[2K')
    },
  }
}
