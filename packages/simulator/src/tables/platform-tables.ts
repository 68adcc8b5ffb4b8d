import { COMMON_TABLES, POSIX_TABLES } from './common-tables.ts'
import { DARWIN_TABLES } from './darwin-tables.ts'
import { LINUX_TABLES } from './linux-tables.ts'
import { assembleTables } from './table-definition.ts'
import type { PlatformTables } from './table-definition.ts'
import type { Platform } from '../platform.ts'
import { WINDOWS_TABLES } from './windows-tables.ts'

/**
 * The tables of each platform, named and typed as osquery 5.20 exposes them there: a query that
 * uses a column of another platform fails here as it would on a real device.
 */
export const TABLES_BY_PLATFORM: Readonly<Record<Platform, PlatformTables>> = {
  darwin: assembleTables('darwin', [COMMON_TABLES, POSIX_TABLES, DARWIN_TABLES]),
  linux: assembleTables('linux', [COMMON_TABLES, POSIX_TABLES, LINUX_TABLES]),
  windows: assembleTables('windows', [COMMON_TABLES, WINDOWS_TABLES]),
}
