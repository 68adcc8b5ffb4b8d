/*
 * Tables as CSV (RFC 4180) that spreadsheets can open: every field in quotes, and nothing in it that they would take
 * for a formula (OWASP, CSV injection). UTF-8 with a byte order mark, by which they know it.
 */

/** What a file begins with. */
export const CSV_START = '\uFEFF'

/** The media type of CSV files. */
export const CSV_MEDIA_TYPE = 'text/csv; charset=utf-8'

/** Blanks that a spreadsheet may pass over, and signs that begin a formula, also in their full width. */
const BLANKS = String.raw`\s\u200B-\u200F\u2060\uFEFF`
const SIGNS = String.raw`=+\-@\uFF1D\uFF0B\uFF0D\uFF20`

/** A text that begins like this may be run. */
const FORMULA = new RegExp(`^(?:[${BLANKS}]*[${SIGNS}|%]|[\\t\\r\\n])`, 'u')

/**
 * Where spreadsheets that separate by other signs would begin a field of their own, quoted or not. Looks for the sign
 * first: a run of blanks that none follows is passed over once, however long it is.
 */
const INNER_FORMULA = new RegExp(`(?=[${SIGNS}])(?<=[;\\t\\r\\n]["${BLANKS}]*)`, 'gu')

/** A line of a table. What could be a formula gets an apostrophe before it. */
export function toCsvLine(values: readonly unknown[]): string {
  return `${values.map((value) => `"${toText(value).replaceAll('"', '""')}"`).join(',')}\r\n`
}

function toText(value: unknown): string {
  switch (typeof value) {
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value)
    case 'string':
      return withoutFormula(value)
    case 'object':
      return value === null ? '' : withoutFormula(JSON.stringify(value))
    default:
      return ''
  }
}

function withoutFormula(text: string): string {
  const safe = text.replaceAll(INNER_FORMULA, "'")
  return FORMULA.test(text) ? `'${safe}` : safe
}
