import { REPORTING_ROLE } from '@heliograph/embedded-postgres'
import { databaseOf, roleOf, withRole, type DatabaseConnection } from '../platform/db/connection.ts'
import { deriveKey, type MasterKeys } from '../platform/secrets/master-key.ts'
import type { ReportingAccess } from '../posture/reporting/sandbox/reporting-access.ts'
import type { Config } from './config/load-config.ts'

/** PostgreSQL cuts names after 63 bytes. */
const DATABASE_NAME_MAX = 50

/**
 * How reporting queries reach the database: as the role of their own setting, as that of the embedded
 * database, or as one that the service makes in the server of DATABASE_URL. Its password follows from the
 * master key, so that every process knows it and none stores it.
 */
export function toReportingAccess(
  { reportingDatabaseUrl: url }: Pick<Config, 'reportingDatabaseUrl'>,
  connection: DatabaseConnection,
  masterKeys: MasterKeys,
): ReportingAccess {
  if (url !== undefined)
    return { connection: { url }, role: roleOf({ url }), ownPassword: undefined }
  if (!('url' in connection)) {
    const role = REPORTING_ROLE
    return { connection: { ...connection, user: role }, role, ownPassword: undefined }
  }
  const database = databaseOf(connection).replace(/[^A-Za-z0-9_]/g, '_')
  const role = `${database.slice(0, DATABASE_NAME_MAX)}_reporting`
  const key = deriveKey(masterKeys.current, `password of the database role ${role}`)
  const ownPassword = key.toString('hex')
  return { connection: withRole(connection, role, ownPassword), role, ownPassword }
}
