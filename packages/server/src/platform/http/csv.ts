/*
 * Tables as CSV (RFC 4180) that spreadsheets can open: every field in quotes, and none that they would take for
 * a formula (OWASP, CSV injection). UTF-8 with a byte order mark, by which they know it.
 */

/** What a file begins with. */
export const CSV_START = '\uFEFF'

/** The media type of CSV files. */
export const CSV_MEDIA_TYPE = 'text/csv; charset=utf-8'

/** A text that begins like this may be run as a formula, also in the wide forms of the signs. */
const FORMULA = /^[\s\u200B-\u200F\uFEFF]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20|%]|^[\t\r\n]/u

/** A line of a table. Texts that could be formulas get an apostrophe before them, which spreadsheets do not show. */
export function toCsvLine(values: readonly unknown[]): string {
  return `${values.map(toField).join(',')}\r\n`
}

function toField(value: unknown): string {
  return `"${toText(value).replaceAll('"', '""')}"`
}

function toText(value: unknown): string {
  switch (typeof value) {
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value)
    case 'string':
      return FORMULA.test(value) ? `'${value}` : value
    case 'object':
      return value === null ? '' : toText(JSON.stringify(value))
    default:
      return ''
  }
}
