import type { DatabaseConnection } from '../../src/platform/db/connection.ts'

/** The connection of a test database in the form of DATABASE_URL. */
export function toUrl(connection: DatabaseConnection): string {
  if ('url' in connection) return connection.url
  const { host, port, user, database } = connection
  const query = new URLSearchParams({ host, port: String(port) })
  return `postgresql://${user}@localhost/${database}?${query.toString()}`
}
