import { HOUR_MS, SECOND_MS } from '../../../platform/clock.ts'
import type { ReportingColumn, ReportingPlatform } from '../reporting-table.ts'

export const EVERY_HOUR = HOUR_MS / SECOND_MS
export const EVERY_SIX_HOURS = 6 * EVERY_HOUR
export const EVERYWHERE: readonly ReportingPlatform[] = ['darwin', 'windows', 'linux']
export const POSIX: readonly ReportingPlatform[] = ['darwin', 'linux']

/** A column that queries see as text. */
export function text(name: string, description: string): ReportingColumn {
  return { name, type: 'text', description }
}

/** A column that queries see as a whole number. */
export function whole(name: string, description: string): ReportingColumn {
  return { name, type: 'bigint', description }
}
