import type { DatabaseConnection } from '../../../platform/db/connection.ts'

/** How reporting queries reach the database: as a role of their own. */
export interface ReportingAccess {
  readonly connection: DatabaseConnection
  /** The role that `connection` logs in as. */
  readonly role: string
  /** Where the service is to make the role by itself: the password that it gives it. */
  readonly ownPassword: string | undefined
  /**
   * Whether `connection` leads to the database of the service, where an address of its own says it. Rejects while
   * nobody answers there.
   */
  readonly isOneDatabase?: (signal: AbortSignal) => Promise<boolean>
}
