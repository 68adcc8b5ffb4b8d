import { expect, it } from 'vitest'
import { renderDocument } from './markup.ts'
import { formatDay, formatDistance, formatMoment, timeWithDistance } from './times.ts'

const NOW = new Date('2026-11-23T10:00:00Z')
const later = (ms: number) => new Date(NOW.getTime() + ms)
const HOUR = 3_600_000

it('a moment names its day, its time and its zone', () => {
  const at = new Date('2026-11-26T14:00:00Z')
  expect(formatMoment(at, 'en')).toBe('Thursday 26 November at 14:00 UTC')
  expect(formatMoment(at, 'de')).toBe('Donnerstag, 26. November um 14:00 UTC')
  expect(formatDay(at, 'de')).toBe('26. November 2026')
})

it.each([
  [later(30_000), 'now', 'jetzt'],
  [later(5 * 60_000 + 59_000), 'in 5 minutes', 'in 5 Minuten'],
  [later(HOUR), 'in 1 hour', 'in 1 Stunde'],
  [later(80 * HOUR), 'in 3 days', 'in 3 Tagen'],
  [later(-2 * HOUR), '2 hours ago', 'vor 2 Stunden'],
])('%s is %s', (at, english, german) => {
  expect(formatDistance(at, NOW, 'en')).toBe(english)
  expect(formatDistance(at, NOW, 'de')).toBe(german)
})

it('a moment stands with how far away it is, for scripts to keep both true', () => {
  const page = renderDocument(timeWithDistance(later(3 * HOUR), NOW, 'en'))
  expect(page).toBe(
    '<!doctype html><time datetime="2026-11-23T13:00:00.000Z" data-form="moment">Monday 23 November at 13:00 UTC</time>' +
      ' (<time datetime="2026-11-23T13:00:00.000Z" data-form="distance">in 3 hours</time>)',
  )
})
