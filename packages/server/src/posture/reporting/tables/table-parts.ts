import { HOUR_MS, SECOND_MS } from '../../../platform/clock.ts'
import type { ReportingColumn, ReportingPlatform, ReportingTable } from '../reporting-table.ts'

export const EVERY_HOUR = HOUR_MS / SECOND_MS
const EVERY_SIX_HOURS = 6 * EVERY_HOUR
const EVERYWHERE: readonly ReportingPlatform[] = ['darwin', 'windows', 'linux']
export const POSIX: readonly ReportingPlatform[] = ['darwin', 'linux']

/** A table as it is declared: on every platform and every six hours, unless it says otherwise. */
type DeclaredTable = Omit<ReportingTable, 'category' | 'platforms' | 'intervalSeconds'> &
  Partial<Pick<ReportingTable, 'platforms' | 'intervalSeconds'>>

/** The tables of a category. */
export function inCategory(
  category: string,
  tables: readonly DeclaredTable[],
): readonly ReportingTable[] {
  return tables.map(({ name, description, ...table }) => ({
    name,
    category,
    description,
    platforms: EVERYWHERE,
    intervalSeconds: EVERY_SIX_HOURS,
    ...table,
  }))
}

/** A column that queries see as text. */
export function text(name: string, description: string): ReportingColumn {
  return { name, type: 'text', description }
}

/** A column that queries see as a whole number. */
export function whole(name: string, description: string): ReportingColumn {
  return { name, type: 'bigint', description }
}

/** A column that osquery fills with `true` and `false`, and that queries see as 1 and 0. */
export function flag(name: string, description: string): ReportingColumn {
  const sql = `case lower(${name}) when 'true' then 1 when '1' then 1 when 'false' then 0 when '0' then 0 end`
  return { name, type: 'bigint', description, sql }
}
