import { readMigrationState } from '../../schema/migrate.ts'
import { databaseCommand } from '../command.ts'

/** `heliograph migrate`: brings the database up to date, as every other command and the service do. */
export const definition = databaseCommand({
  name: 'migrate',
  description: 'bring the schema of the database up to date',
  mayMakeDatabase: true,
  async run({ services }) {
    const { applied } = await readMigrationState(services.connection)
    return { applied }
  },
  json: ({ applied }) => ({ applied: applied.map(({ version, name }) => ({ version, name })) }),
  text: ({ applied }) => `The schema is up to date: ${applied.length} migrations.`,
})
