import { createHash } from 'node:crypto'

/** The largest part of the interval by which a device's round is put off. */
const JITTER_PART_MAX = 0.1
const HASH_RANGE = 2 ** 32

/**
 * When the next round of checks of a device is due, in milliseconds since the epoch: one interval
 * after the last one plus up to a tenth of it, by a hash of the device, because agents have no jitter
 * of their own. At once for a device that never answered a whole round.
 */
export function nextRoundAtMs(
  deviceId: string,
  checksRanAt: Date | null,
  checkIntervalMs: number,
): number {
  if (checksRanAt === null) return 0
  const hash = createHash('sha256').update(`check-jitter:${deviceId}`).digest().readUInt32BE()
  const jitterMs = Math.floor((hash / HASH_RANGE) * JITTER_PART_MAX * checkIntervalMs)
  return checksRanAt.getTime() + checkIntervalMs + jitterMs
}

/** No round is farther away than this, in milliseconds. */
export function roundAheadMsMax(checkIntervalMs: number): number {
  return checkIntervalMs * (1 + JITTER_PART_MAX)
}

/** The id that a check has as a distributed query; names the revision that is run. */
export function toQueryId(checkId: string, revision: number): string {
  return `check:${checkId}:${revision}`
}

const QUERY_ID = /^check:(\d{1,18}):(\d{1,9})$/

/** The check and revision of a distributed query; undefined for queries of others. */
export function parseQueryId(id: string): { checkId: string; revision: number } | undefined {
  const match = QUERY_ID.exec(id)
  const [, checkId, revision] = match ?? []
  if (checkId === undefined || revision === undefined) return undefined
  return { checkId, revision: Number(revision) }
}
