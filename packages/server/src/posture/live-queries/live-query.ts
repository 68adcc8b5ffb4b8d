/*
 * Live queries: SQL that somebody asks many devices at once. A campaign is put to its targets, the
 * devices that match at that moment; each answers once per revision. This file holds the words that the
 * others share; how devices are spoken to is for osquery/.
 */

/** With what the ids of live queries begin towards agents. */
export const LIVE_QUERY_PREFIX = 'live:'

/** The channel that tells the agent intakes of all processes to read a campaign again. */
export const LIVE_QUERY_CHANNEL = 'live_query'

export const LIVE_QUERY_SQL_LENGTH_MAX = 20_000

/** Rows that are kept of one device; one more is asked for, to know whether there are more. */
export const LIVE_RESULT_ROWS_MAX = 1_000
/** JSON text of the rows of one device, in characters. */
export const LIVE_RESULT_LENGTH_MAX = 262_144

/** One put question: a campaign at a revision. */
export interface LiveQueryId {
  readonly campaignId: string
  readonly revision: number
}

/** `live:<campaign>:<revision>`; a device that gets it again answers it again, which is harmless. */
export function toLiveQueryId({ campaignId, revision }: LiveQueryId): string {
  return `${LIVE_QUERY_PREFIX}${campaignId}:${revision}`
}

const QUERY_ID = /^live:([1-9]\d{0,17}):([1-9]\d{0,8})$/

/** The question that an agent answers; undefined for an id that this service never gave. */
export function parseLiveQueryId(id: string): LiveQueryId | undefined {
  const [, campaignId, revision] = QUERY_ID.exec(id) ?? []
  if (campaignId === undefined || revision === undefined) return undefined
  return { campaignId, revision: Number(revision) }
}

/**
 * What a device runs: the statement within a limit, so that no answer outgrows what the intake takes.
 * Inside a subquery nothing but reading is possible.
 */
export function toDeviceSql(statement: string): string {
  return `SELECT * FROM (\n${statement}\n) LIMIT ${LIVE_RESULT_ROWS_MAX + 1}`
}
