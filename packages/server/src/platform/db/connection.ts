import type { SocketConnection } from '@heliograph/embedded-postgres'
import type { ClientConfig } from 'pg'

/** A server that is reached by the URL that the operator gave. It may hold a password. */
export interface UrlConnection {
  readonly url: string
}

/** How to reach the database. May be passed between processes as JSON. */
export type DatabaseConnection = SocketConnection | UrlConnection

/** The same connection as the PostgreSQL driver takes it. */
export function toClientConfig(connection: DatabaseConnection): ClientConfig {
  return 'url' in connection ? { connectionString: connection.url } : { ...connection }
}
