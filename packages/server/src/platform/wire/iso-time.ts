import { DAY_MS, MINUTE_MS, SECOND_MS } from '../clock.ts'

const DAYS_MAX = 1_000
/** The beginnings of times, up to the hour, by their day since the epoch. */
const dayTexts = new Map<number, string>()

/**
 * A time as ISO 8601 UTC with milliseconds, as `toISOString` writes it; a page of records has hundreds, which
 * mostly share their days.
 *
 * @throws RangeError for no time
 */
export function toIsoTime(time: Date): string {
  const timeMs = time.getTime()
  const day = Math.floor(timeMs / DAY_MS)
  const dayText = dayTexts.get(day) ?? addDay(day, time)
  const ms = timeMs - day * DAY_MS
  const seconds = Math.floor(ms / SECOND_MS)
  const minutes = Math.floor(ms / MINUTE_MS)
  const hour = PAIRS[Math.floor(minutes / 60)] ?? ''
  const minute = PAIRS[minutes % 60] ?? ''
  return `${dayText}${hour}:${minute}:${PAIRS[seconds % 60] ?? ''}${FRACTIONS[ms % SECOND_MS] ?? ''}`
}

function addDay(day: number, time: Date): string {
  const text = time.toISOString()
  const dayText = text.slice(0, text.indexOf('T') + 1)
  if (dayTexts.size >= DAYS_MAX) dayTexts.clear()
  dayTexts.set(day, dayText)
  return dayText
}

const PAIRS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))
const FRACTIONS = Array.from(
  { length: SECOND_MS },
  (_, number) => `.${String(number).padStart(3, '0')}Z`,
)
