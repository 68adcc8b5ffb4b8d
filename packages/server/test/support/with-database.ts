import type { DatabaseConnection } from '../../src/platform/db/connection.ts'

/** The same server and role, but another database. */
export function withDatabase(connection: DatabaseConnection, database: string): DatabaseConnection {
  if (!('url' in connection)) return { ...connection, database }
  const url = new URL(connection.url)
  url.pathname = `/${encodeURIComponent(database)}`
  return { url: url.href }
}
