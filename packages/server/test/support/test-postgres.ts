import type { DatabaseConnection } from '../../src/platform/db/connection.ts'

/** What the global setup tells the test files about the server. */
export interface TestPostgres {
  /** A role that may create databases. */
  readonly administration: DatabaseConnection
  /** The role that the service works as; it owns the databases of the tests. */
  readonly connection: DatabaseConnection
  readonly role: string
  /** The role that reporting queries run as. */
  readonly reporting: DatabaseConnection
  /** A migrated database that is cloned for each test file; nobody may connect to it. */
  readonly template: string
  /**
   * Databases stay until the server goes with the run: where its files are on a disk, deleting them makes creating
   * others slow.
   */
  readonly keepsDatabases: boolean
}

declare module 'vitest' {
  interface ProvidedContext {
    postgres: TestPostgres
  }
}
