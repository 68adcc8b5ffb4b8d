import { adoptRestoredDatabase } from '../../app/backup/adopt-restored-database.ts'
import { databaseCommand } from '../command.ts'
import { option } from '../option.ts'

/** `heliograph restored`: for restores that the service cannot notice, such as a disk that was set back. */
export const definition = databaseCommand({
  name: 'restored',
  description:
    'say that the database was restored by other means: numbers go on far above, receivers are told everything anew',
  options: {
    description: option(
      '--description <text>',
      'what it was restored from, for the audit log',
    ).required(),
  },
  run: ({ change, options }) =>
    change((made) =>
      adoptRestoredDatabase(made, {
        description: `said that the database was restored: ${options.description}`,
        facts: {},
      }),
    ),
  json: ({ streamCount, numbersFrom }) => ({
    streams_told_anew: streamCount,
    numbers_from: numbersFrom,
  }),
  text: ({ streamCount, numbersFrom }) =>
    `New ids and numbers are above ${numbersFrom}. ${streamCount} streams tell the present status of every device anew, within 15 minutes.`,
})
