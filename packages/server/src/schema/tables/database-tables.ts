import type { Generated } from 'kysely'

/** Tables about the database itself, by their names. */
export interface DatabaseTables {
  /** One row: the server and the history that the rows belong to. */
  database_origin: {
    is_single: Generated<boolean>
    system_identifier: string
    timeline_id: string
    is_synchronous: boolean
    noted_at: Date
  } /** One row for each process of the service. */
  service_process: {
    id: number
    roles: string[]
    version: string
    schema_version: number
    host: string
    started_at: Date
    seen_at: Date
    known_nodes: number | null
  }
}
