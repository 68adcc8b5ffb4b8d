import { PassThrough } from 'node:stream'
import type { CommandIo } from '../../src/cli/command-io.ts'
import { runProgram } from '../../src/cli/program.ts'

export interface CommandResult {
  readonly exitCode: number
  /** The standard output. */
  readonly printed: string
  /** The standard error. */
  readonly told: string
}

/** Runs a command in the process of the test, to its end, or until the signal. */
export async function runCommand(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<CommandResult> {
  const result = { exitCode: 0, printed: '', told: '' }
  const io = {
    stdout: new PassThrough().on('data', (chunk: Buffer) => (result.printed += chunk.toString())),
    stderr: new PassThrough().on('data', (chunk: Buffer) => (result.told += chunk.toString())),
    environment,
    interruption: new AbortController().signal,
    signal,
    setExitCode: (code: number) => (result.exitCode = code),
  }
  await runProgram(words, io as unknown as CommandIo)
  return result
}
