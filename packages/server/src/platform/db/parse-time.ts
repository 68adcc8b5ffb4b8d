import { types } from 'pg'

const TIMESTAMPTZ: number = types.builtins.TIMESTAMPTZ
const parseAny = types.getTypeParser(TIMESTAMPTZ, 'text') as (text: string) => unknown

/** How PostgreSQL writes a time to a session in UTC: a year of four digits, at most six of a second. */
const USUAL = /^[1-9]\d{3}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?\+00$/

/** A `timestamptz` as PostgreSQL writes it; a page of records has hundreds. What is unusual the driver reads. */
export function parseTime(text: string): unknown {
  if (!USUAL.test(text)) return parseAny(text)
  const fraction = text.length - FRACTION_START - ZONE_LENGTH
  const milliseconds =
    (fraction > 0 ? digitAt(text, FRACTION_START) * 100 : 0) +
    (fraction > 1 ? digitAt(text, FRACTION_START + 1) * 10 : 0) +
    (fraction > 2 ? digitAt(text, FRACTION_START + 2) : 0)
  return new Date(
    Date.UTC(
      numberAt(text, 0) * 100 + numberAt(text, 2),
      numberAt(text, 5) - 1,
      numberAt(text, 8),
      numberAt(text, 11),
      numberAt(text, 14),
      numberAt(text, 17),
      milliseconds,
    ),
  )
}

const FRACTION_START = '2026-01-02 03:04:05.'.length
const ZONE_LENGTH = '+00'.length

/** The number of two digits. */
function numberAt(text: string, index: number): number {
  return digitAt(text, index) * 10 + digitAt(text, index + 1)
}

const ZERO = '0'.charCodeAt(0)

function digitAt(text: string, index: number): number {
  return text.charCodeAt(index) - ZERO
}
