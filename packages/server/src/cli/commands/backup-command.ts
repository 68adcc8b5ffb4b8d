import { command } from '../command.ts'
import { flag, JSON_FLAG } from '../option.ts'
import { DATABASE_OPTIONS, readConfig } from '../run-command.ts'
import { runWithProgress } from './run-with-progress.ts'
import { PASSPHRASE_FILE, readPassphrase } from './passphrase-file.ts'

const MEGABYTE = 1_000_000

/** `heliograph backup <folder>`: beside a service that runs, or without one. */
export const definition = command({
  name: 'backup <folder>',
  description: 'back the database up into a new folder, beside a service that runs',
  options: {
    passphraseFile: PASSPHRASE_FILE,
    rehearse: flag('--rehearse', 'then restore it into a database that is thrown away'),
    json: JSON_FLAG,
  },
  shared: DATABASE_OPTIONS,
  async run({ io, parsed, args: { folder }, options }) {
    const config = readConfig(io, parsed)
    return runWithProgress(io, async (progress) => {
      const { backUpService } = await import('../../app/backup/back-up-service.ts')
      const passphrase = await readPassphrase(options.passphraseFile)
      const task = { ...progress, passphrase }
      const written = await backUpService(config, { ...task, folder })
      if (options.rehearse !== true) return { written, isRehearsed: false }
      const { rehearseRestore } = await import('../../app/backup/restore-service.ts')
      await rehearseRestore(config, { ...task, folder: written.folder })
      return { written, isRehearsed: true }
    })
  },
  json: ({ written, isRehearsed }) => ({
    id: written.id,
    folder: written.folder,
    taken_at: written.takenAt,
    tables: written.tables,
    rows: written.rows,
    bytes: written.bytes,
    has_keys: written.hasKeys,
    rehearsed: isRehearsed,
  }),
  text: ({ written, isRehearsed }) => [
    `${written.folder} holds the database as of ${written.takenAt}: ${written.rows} rows in ${written.tables} tables, ${(written.bytes / MEGABYTE).toFixed(1)} MB.`,
    isRehearsed
      ? 'It was read back, restored into another database, and thrown away there.'
      : 'It was read back.',
    written.hasKeys
      ? 'The master key is in it, sealed under the passphrase.'
      : 'The master key is not in it: keep master.key, or HELIOGRAPH_MASTER_KEY, at another place.',
  ],
})
