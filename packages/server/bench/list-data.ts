import { sql, type Kysely } from 'kysely'
import type { Schema } from '../src/schema/schema.ts'
import { bulkLoad } from './bulk-load.ts'
import { FLEET_TABLES, insertFleet, type FleetSize } from './fleet-store.ts'
import { HISTORY_TABLES, insertHistory, type HistorySize } from './history-store.ts'
import { insertRecords, RECORDS_TABLES, type RecordsSize } from './records-store.ts'

export type ListDataSize = FleetSize & HistorySize & RecordsSize

/** Ids for the parameters of paths, by what stands before them; of records that have many others. */
export type ListIds = Readonly<Record<string, string>>

/** What the lists are measured with, or a share of it, for small machines. */
export function toListDataSize(scale: number): ListDataSize {
  const share = (count: number) => Math.max(1, Math.round(count * scale))
  return {
    devices: Math.max(1_000, share(50_000)),
    people: Math.max(500, share(25_000)),
    resultsPerDevice: 40,
    issues: share(500_000),
    transitions: share(500_000),
    authLogs: share(1_000_000),
    auditEntries: share(1_000_000),
    groups: 500,
    requests: share(20_000),
    campaigns: 1_000,
    reportingRecords: share(200_000),
  }
}

/** Fills an empty database with what every list shows. */
export async function insertListData(db: Kysely<Schema>, size: ListDataSize): Promise<ListIds> {
  await bulkLoad(db, [...FLEET_TABLES, ...HISTORY_TABLES, ...RECORDS_TABLES], async (tx) => {
    await insertFleet(tx, size)
    await insertHistory(tx, size)
    await insertRecords(tx, size)
  })
  const { rows } = await sql<Record<string, string>>`
    select (select min(id) from person_group)::text as "/person_groups",
      (select min(id) from device_group)::text as "/device_groups",
      (select min(id) from live_query_campaign)::text as "/live_query_campaigns",
      (select min(id) from reporting_query)::text as "/reporting/queries",
      (select max(check_id) from check_result)::text as "/checks"`.execute(db)
  return { ...rows[0], '/devices': '711', '/people': '1', '/reporting/tables': 'users' }
}
