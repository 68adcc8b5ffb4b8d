import type { AgingTable } from '../platform/retention/aging-rows-store.ts'

/** A policy as it is written down. */
export interface RetentionFacts extends AgingTable {
  /** Days, by default, that the setting changes; or the time that every installation keeps. */
  readonly keeps:
    | {
        readonly setting: `HELIOGRAPH_${string}_RETENTION_DAYS`
        readonly days: number
        /** 0 where 0 keeps for ever. */
        readonly daysMin: 0 | 1
        /** The least number of days where it is not that; 0 stays possible. */
        readonly daysLeast?: number
      }
    | { readonly ms: number }
  readonly passEveryMs: number
  readonly batchSize: number
  /** What is kept, what goes with it, and what stays although it is old. */
  readonly description: string
}
