import type { RestoredBackup } from '../../app/backup/restore-service.ts'
import { command } from '../command.ts'
import { flag, JSON_FLAG } from '../option.ts'
import { DATABASE_OPTIONS, readConfig } from '../run-command.ts'
import { PASSPHRASE_FILE, readPassphrase } from './passphrase-file.ts'
import { runWithProgress } from './run-with-progress.ts'

/** `heliograph restore <folder>`: into a data folder without a database, or an empty DATABASE_URL. */
export const definition = command({
  name: 'restore <folder>',
  description: 'make a backup the database of a data folder that has none',
  options: {
    passphraseFile: PASSPHRASE_FILE,
    rehearse: flag('--rehearse', 'restore it into a database that is thrown away'),
    json: JSON_FLAG,
  },
  shared: DATABASE_OPTIONS,
  async run({ io, parsed, args: { folder }, options }) {
    const config = readConfig(io, parsed)
    return runWithProgress(io, async (progress) => {
      const service = await import('../../app/backup/restore-service.ts')
      const restore = options.rehearse === true ? service.rehearseRestore : service.restoreService
      const passphrase = await readPassphrase(options.passphraseFile)
      return restore(config, { ...progress, folder, passphrase })
    })
  },
  json: (restored, { options }) => ({
    backup_id: restored.backupId,
    taken_at: restored.takenAt,
    tables: restored.tables,
    rows: restored.rows,
    audit_entries: restored.auditEntries,
    audit_problem: restored.auditProblem ?? null,
    streams_told_anew: restored.streamCount,
    numbers_from: restored.numbersFrom,
    master_key_file: restored.masterKeyFile ?? null,
    rehearsed: options.rehearse === true,
  }),
  text: (restored, { options }) => [
    `${restored.rows} rows in ${restored.tables} tables, as of ${restored.takenAt}.`,
    restored.auditProblem === undefined
      ? `The audit log is whole: ${restored.auditEntries} entries.`
      : `The audit log is not whole, and was not when it was backed up: ${restored.auditProblem}.`,
    ...(options.rehearse === true
      ? ['This was a rehearsal: everything was thrown away.']
      : listNextSteps(restored)),
  ],
})

function listNextSteps({ masterKeyFile, streamCount, takenAt }: RestoredBackup): string[] {
  return [
    ...(masterKeyFile === undefined ? [] : [`The master key is in ${masterKeyFile}.`]),
    'Next:',
    '  1. Start the service. Devices answer their checks anew, and those that enrolled since enroll again by themselves.',
    `  2. ${streamCount} streams then tell the present status of every device anew, within 15 minutes.`,
    `  3. Do again what was done after ${takenAt}: revoke keys, secrets and signing keys that were revoked since, above all.`,
    '  4. Where checkpoints of the audit log are kept, move them away and run: heliograph audit rotate-key --new-log',
    '  5. Do not start the former database again: it would go on from another past.',
  ]
}
