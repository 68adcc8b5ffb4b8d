/*
 * Times on a page: the moment itself, and how far away it is. The service does not know where the reader is, so it
 * writes UTC and says so; the script of the page puts the time of the reader in its place.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../platform/clock.ts'
import type { Language } from '../texts/language.ts'
import { html, type Markup } from './markup.ts'

export type TimeForm = 'moment' | 'day'

/** A moment in the words of a language, in UTC. */
export function formatMoment(at: Date, language: Language): string {
  const format = new Intl.DateTimeFormat(LOCALES[language], {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  })
  return format.format(at)
}

/** A day in the words of a language, in UTC. */
export function formatDay(at: Date, language: Language): string {
  const format = new Intl.DateTimeFormat(LOCALES[language], {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  })
  return format.format(at)
}

/** How far away a moment is: "in 3 days", "5 minutes ago", and "now" within a minute. */
export function formatDistance(at: Date, now: Date, language: Language): string {
  const distanceMs = at.getTime() - now.getTime()
  const found = UNITS.find(([, ms]) => Math.abs(distanceMs) >= ms)
  const numeric = found === undefined ? 'auto' : 'always'
  const format = new Intl.RelativeTimeFormat(LOCALES[language], { numeric })
  if (found === undefined) return format.format(0, 'second')
  const [unit, unitMs] = found
  return format.format(Math.trunc(distanceMs / unitMs), unit)
}

/** A moment with how far away it is. */
export function timeWithDistance(at: Date, now: Date, language: Language): Markup {
  return html`${timeOf(at, language)} (${distanceOf(at, now, language)})`
}

/** A moment. */
export function timeOf(at: Date, language: Language, form: TimeForm = 'moment'): Markup {
  const text = form === 'day' ? formatDay(at, language) : formatMoment(at, language)
  return html`<time datetime=${at.toISOString()} data-form=${form}>${text}</time>`
}

/** How far away a moment is, as of now; the script of the page keeps it true. */
export function distanceOf(at: Date, now: Date, language: Language): Markup {
  const text = formatDistance(at, now, language)
  return html`<time datetime=${at.toISOString()} data-form="distance">${text}</time>`
}

/** English as most of the world writes it: the day before the month, and 24 hours. */
const LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', de: 'de-DE' }

const UNITS = [['day', DAY_MS] as const, ['hour', HOUR_MS] as const, ['minute', MINUTE_MS] as const]
