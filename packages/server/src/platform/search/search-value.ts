import type { SearchField, SearchValue } from './search-field.ts'

const INTEGER = /^-?\d{1,15}$/

/** A space stands for the plus sign of an offset that was not URL-encoded. */
const TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:([Zz])|([+ -])(\d{2}):?(\d{2})|([+-])(\d{2}))?)?$/

/** The value in the type of the field, or what the field would have taken instead. */
export function readSearchValue(
  field: SearchField,
  text: string,
): { readonly value: SearchValue } | { readonly expected: string } {
  switch (field.type) {
    case 'text':
    case 'id':
      return { value: text }
    case 'integer':
      return INTEGER.test(text) ? { value: Number(text) } : { expected: 'an integer' }
    case 'boolean':
      return readBoolean(text)
    case 'enum':
      return readEnum(field.values ?? [], text)
    case 'timestamp': {
      const value = parseTimestamp(text)
      return value === undefined
        ? { expected: 'an ISO 8601 time such as "2026-01-02T03:04:05.678Z"' }
        : { value }
    }
  }
}

function readBoolean(text: string): { value: boolean } | { expected: string } {
  const word = text.toLowerCase()
  return word === 'true' || word === 'false'
    ? { value: word === 'true' }
    : { expected: 'true or false' }
}

function readEnum(
  values: readonly string[],
  text: string,
): { value: string } | { expected: string } {
  const value = values.find((candidate) => candidate.toLowerCase() === text.toLowerCase())
  return value === undefined ? { expected: `one of ${values.join(', ')}` } : { value }
}

/**
 * An ISO 8601 date or time: seconds, fraction and offset may be left out, and without an offset the
 * time is UTC. Days that no calendar has are not times. Precision ends at milliseconds.
 */
export function parseTimestamp(text: string): Date | undefined {
  const match = TIMESTAMP.exec(text)
  if (match === null) return undefined
  const time = readLocalTime(match)
  const offsetMinutes = readOffsetMinutes(match[9] ?? match[12], match[10] ?? match[13], match[11])
  return time === undefined || offsetMinutes === undefined
    ? undefined
    : new Date(time.getTime() - offsetMinutes * 60_000)
}

function readLocalTime(match: RegExpExecArray): Date | undefined {
  const numberAt = (group: number) => Number(match[group] ?? 0)
  const [year, month, day] = [numberAt(1), numberAt(2), numberAt(3)]
  const [hour, minute, second] = [numberAt(4), numberAt(5), numberAt(6)]
  // The database knows no year 0.
  if (year === 0 || hour > 23 || minute > 59 || second > 59) return undefined
  const time = new Date(0)
  time.setUTCFullYear(year, month - 1, day)
  time.setUTCHours(hour, minute, second, readMilliseconds(match[7]))
  return time.getUTCMonth() === month - 1 && time.getUTCDate() === day ? time : undefined
}

function readMilliseconds(fraction = '0'): number {
  return Number(fraction.padEnd(3, '0').slice(0, 3))
}

function readOffsetMinutes(
  sign: string | undefined,
  hours: string | undefined,
  minutes: string | undefined,
): number | undefined {
  if (sign === undefined) return 0
  const [h, m] = [Number(hours), Number(minutes ?? 0)]
  if (h > 23 || m > 59) return undefined
  return (sign === '-' ? -1 : 1) * (h * 60 + m)
}
