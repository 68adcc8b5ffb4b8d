import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'

const COMMAND_MS_MAX = 5_000
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024
const FILE_CHARACTERS_MAX = 1024 * 1024

/** The standard output of a command without a shell, or `''` when it fails, hangs or is not there. */
export function runCommand(command: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      command,
      [...args],
      {
        timeout: COMMAND_MS_MAX,
        maxBuffer: OUTPUT_BYTES_MAX,
        killSignal: 'SIGKILL',
        windowsHide: true,
      },
      (error, stdout) => resolve(error === null ? stdout : ''),
    )
  })
}

/** The text of a file, at most 1 MiB of it, or `''` when it cannot be read. */
export async function readTextFile(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).slice(0, FILE_CHARACTERS_MAX)
  } catch {
    return ''
  }
}

/** The lines of a file that are neither empty nor comments. */
export async function readLines(path: string): Promise<string[]> {
  const text = await readTextFile(path)
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
}
