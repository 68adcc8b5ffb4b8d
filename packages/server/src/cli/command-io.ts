/** What a command may touch of its process; main.ts makes the real one. */
export interface CommandIo {
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly stdin: NodeJS.ReadStream
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Aborted by the first SIGINT or SIGTERM. */
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

/** Prints one JSON document to the standard output. */
export function printJson(io: CommandIo, value: unknown): void {
  io.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

/** Prints a line for people to the standard output. */
export function printLine(io: CommandIo, line: string): void {
  io.stdout.write(`${line}\n`)
}

/** Prints rows under headings in aligned columns. */
export function printTable(
  io: CommandIo,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const lines = [headings, ...rows]
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  )
  for (const line of lines) {
    const cells = line.map((cell, column) => cell.padEnd(widths[column] ?? 0))
    printLine(io, cells.join('  ').trimEnd())
  }
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
