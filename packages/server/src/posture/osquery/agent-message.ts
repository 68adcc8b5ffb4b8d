import type { OsqueryRow } from '../../schema/tables/column-types.ts'

/** What a device says of itself when it enrolls. */
export interface EnrollmentRequest {
  readonly secret: string
  readonly hostIdentifier: string
  readonly platformType: number
  /** The node key that the host holds, which proves that it is the device it claims to be. */
  readonly nodeKey: string | undefined
  /** The first rows of `os_version`, `osquery_info`, `system_info` and `platform_info`, as far as sent. */
  readonly details: Readonly<Record<string, OsqueryRow>>
}

/** One answered query of a distributed write. */
export interface DistributedResult {
  readonly id: string
  readonly rows: readonly unknown[]
  readonly statusCode: number
  readonly message: string
}
