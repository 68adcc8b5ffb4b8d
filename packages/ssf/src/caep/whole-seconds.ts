import type { CaepCommonMembers } from './common-members.ts'

/**
 * A payload whose `event_timestamp` is in whole seconds, rounded down.
 *
 * @throws RangeError when the timestamp cannot be seconds.
 */
export function withWholeSeconds<Payload extends CaepCommonMembers>(payload: Payload): Payload {
  if (payload.event_timestamp === undefined) return { ...payload }
  if (payload.event_timestamp < 0 || payload.event_timestamp >= MILLISECOND_EPOCHS_FROM) {
    throw new RangeError('event_timestamp is in seconds since the epoch')
  }
  return { ...payload, event_timestamp: Math.floor(payload.event_timestamp) }
}

/** Read as seconds, values from here on lie beyond the year 5000: they are milliseconds. */
const MILLISECOND_EPOCHS_FROM = 100_000_000_000
