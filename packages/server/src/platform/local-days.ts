/*
 * Days as a time zone has them. The zones are those that the runtime knows; days are 23 to 25 hours long.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from './clock.ts'

/** A day of a time zone. */
export interface LocalDay {
  /** ISO 8601, without a time. */
  readonly date: string
  readonly beginsAt: Date
  /** The beginning of the next one. */
  readonly endsAt: Date
}

/** Whether a text is the name of an IANA time zone that is known here. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format() !== ''
  } catch {
    return false
  }
}

/** The day of a time zone that holds `now`, and those that follow it, `count` in all. */
export function listLocalDays(timeZone: string, now: Date, count: number): LocalDay[] {
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  const todayMs = Math.floor(toWallMs(clock, now.getTime()) / DAY_MS) * DAY_MS
  return Array.from({ length: count }, (_, number) => {
    const wallMs = todayMs + number * DAY_MS
    return {
      date: new Date(wallMs).toISOString().slice(0, 10),
      beginsAt: toBeginning(clock, wallMs),
      endsAt: toBeginning(clock, wallMs + DAY_MS),
    }
  })
}

/** What the clock on the wall shows at a time, as if it were UTC, to the minute. */
function toWallMs(clock: Intl.DateTimeFormat, timeMs: number): number {
  const parts = new Map(clock.formatToParts(timeMs).map(({ type, value }) => [type, Number(value)]))
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
  return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'))
}

/** The first moment of a day: midnight, or where the clock leaps over it, the moment of the leap. */
function toBeginning(clock: Intl.DateTimeFormat, midnightWallMs: number): Date {
  const offsetAt = (timeMs: number) =>
    toWallMs(clock, timeMs) - Math.floor(timeMs / MINUTE_MS) * MINUTE_MS
  const guessMs = midnightWallMs - offsetAt(midnightWallMs)
  const timeMs = midnightWallMs - offsetAt(guessMs)
  return new Date(toWallMs(clock, timeMs) < midnightWallMs ? timeMs + HOUR_MS : timeMs)
}
