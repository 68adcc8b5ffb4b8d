import type { SocketConnection } from '@heliograph/embedded-postgres'
import { Client, type ClientConfig } from 'pg'

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

/** The same server and database, but another role. */
export function withRole(connection: UrlConnection, role: string, password: string): UrlConnection {
  const credentials = `${encodeURIComponent(role)}:${encodeURIComponent(password)}`
  return { url: connection.url.replace(/^([a-z]+:\/\/)(?:[^@/?#]*@)?/, `$1${credentials}@`) }
}

/** The role that a connection logs in as. */
export function roleOf(connection: DatabaseConnection): string {
  return new Client(toClientConfig(connection)).user ?? ''
}

/** The database that a connection opens. */
export function databaseOf(connection: DatabaseConnection): string {
  return new Client(toClientConfig(connection)).database ?? ''
}
