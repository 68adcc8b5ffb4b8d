import type { SocketConnection } from '@heliograph/embedded-postgres'
import { Client, type ClientConfig } from 'pg'
import { joinParameters, splitHosts, splitParameters } from './server-hosts.ts'

/**
 * A server that is reached by the URL that the operator gave, or several that hold the same database:
 * `host1:5432,host2`, or `?host=/folder1,/folder2`, as libpq takes them. It may hold a password.
 */
export interface UrlConnection {
  readonly url: string
}

/** How to reach the database. May be passed between processes as JSON. */
export type DatabaseConnection = SocketConnection | UrlConnection

/** The same connection as the PostgreSQL driver takes it; of several servers the first. */
export function toClientConfig(connection: DatabaseConnection): ClientConfig {
  return toServers(connection)[0]
}

/** The servers of a connection, each as the driver takes it, in the order in which they were given. */
export function toServers(
  connection: DatabaseConnection,
): readonly [ClientConfig, ...ClientConfig[]] {
  if (!('url' in connection)) return [{ ...connection }]
  const [first, ...others] = splitHosts(connection.url)
  return [toUrlConfig(first), ...others.map(toUrlConfig)]
}

/** What asks for TLS without saying how a certificate is checked: completely, as node-postgres does and warns of. */
const LAX_SSL_MODES: readonly (string | null)[] = ['prefer', 'require', 'verify-ca']

/** The `options` stand beside the URL, where others can add to them. */
function toUrlConfig(url: string): ClientConfig {
  const { address, parameters } = splitParameters(url)
  const options = parameters.get('options')
  const isLax =
    LAX_SSL_MODES.includes(parameters.get('sslmode')) && parameters.get('uselibpqcompat') !== 'true'
  if (options === null && !isLax) return { connectionString: url }
  if (isLax) parameters.set('sslmode', 'verify-full')
  parameters.delete('options')
  const connectionString = joinParameters(address, parameters)
  return options === null ? { connectionString } : { connectionString, options }
}

/** The same server and database, but another role. */
export function withRole(connection: UrlConnection, role: string, password: string): UrlConnection {
  const credentials = `${encodeURIComponent(role)}:${encodeURIComponent(password)}`
  return { url: connection.url.replace(/^([a-z]+:\/\/)(?:[^/?#]*@)?/, `$1${credentials}@`) }
}

/** The role that a connection logs in as. */
export function roleOf(connection: DatabaseConnection): string {
  return new Client(toClientConfig(connection)).user ?? ''
}

/** The database that a connection opens. */
export function databaseOf(connection: DatabaseConnection): string {
  return new Client(toClientConfig(connection)).database ?? ''
}
