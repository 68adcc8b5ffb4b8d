import type { ReportingTable } from './reporting-table.ts'
import { ACCOUNT_TABLES } from './tables/account-tables.ts'
import { NETWORK_AND_SERVICE_TABLES } from './tables/network-and-service-tables.ts'
import { SOFTWARE_TABLES } from './tables/software-tables.ts'
import { SYSTEM_TABLES } from './tables/system-tables.ts'

/** The tables that devices report, by name. */
export const REPORTING_TABLES: readonly ReportingTable[] = [
  ...SYSTEM_TABLES,
  ...SOFTWARE_TABLES,
  ...ACCOUNT_TABLES,
  ...NETWORK_AND_SERVICE_TABLES,
].sort((a, b) => (a.name < b.name ? -1 : 1))
