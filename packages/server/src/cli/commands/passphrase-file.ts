import { readFile } from 'node:fs/promises'
import { AppError } from '../../platform/app-error.ts'
import { PASSPHRASE_LENGTH_MIN } from '../../platform/secrets/passphrase-box.ts'
import { option } from '../option.ts'

/** The flag of commands that seal or open the keys of a backup. */
export const PASSPHRASE_FILE = option(
  '--passphrase-file <file>',
  'a file with the passphrase that seals the master key',
)

/**
 * The passphrase in a file, without the line break at its end; undefined without a file.
 *
 * @throws AppError `invalid_parameter` for one that is too short
 */
export async function readPassphrase(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined
  const passphrase = (await readFile(file, 'utf8')).replace(/\r?\n$/, '')
  if (passphrase.length >= PASSPHRASE_LENGTH_MIN) return passphrase
  throw new AppError(
    'invalid_parameter',
    `The passphrase in ${file} is too short: it takes ${PASSPHRASE_LENGTH_MIN} characters or more.`,
  )
}
