/*
 * When a result is too old to be believed. Results keep the status that they were given: whoever shows
 * one reads it through here. Counters and issues stay as they are, since a device that is silent has
 * not become healthy or broken.
 */
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { CheckStatus } from '../../schema/status-values.ts'

/** How many intervals in a row a device may miss before its results are stale. */
export const STALE_AFTER_INTERVALS = 24

/** Results of runs before this time are stale. */
export function staleBefore(now: Date, checkIntervalMs: number): Date {
  return new Date(now.getTime() - STALE_AFTER_INTERVALS * checkIntervalMs)
}

/**
 * The status of `check_result` as it reads at present, for queries that join its `posture_check`.
 * Only checks that devices run by schedule grow stale: other systems report when they please.
 */
export function readStatus(before: Date): RawBuilder<CheckStatus> {
  return sql<CheckStatus>`case when ${isOutdated(before)} then 'stale' else check_result.status end`
}

/** That `readStatus` is this status, in conditions that indexes of the columns answer. */
export function readsAs(before: Date, status: string): RawBuilder<SqlBool> {
  return status === 'stale'
    ? sql<SqlBool>`(${isOutdated(before)} or check_result.status = 'stale')`
    : sql<SqlBool>`(check_result.status = ${status} and (${isOutdated(before)}) is not true)`
}

function isOutdated(before: Date): RawBuilder<SqlBool> {
  return sql<SqlBool>`check_result.ran_at < ${before} and posture_check.type <> 'external'
    and check_result.status not in ('pending', 'out_of_scope')`
}
