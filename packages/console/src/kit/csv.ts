/* Comma-separated values that a spreadsheet reads as what they are. */

/** By which spreadsheets know UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF'

/** Blanks that a spreadsheet may pass over, and signs that begin a formula, also in their full width. */
const BLANKS = String.raw`\s\u200B-\u200F\u2060\uFEFF`
const SIGNS = String.raw`=+\-@\uFF1D\uFF0B\uFF0D\uFF20`

/** A text that begins like this may be run. */
const FORMULA = new RegExp(`^(?:[${BLANKS}]*[${SIGNS}|%]|[\\t\\r\\n])`, 'u')

/**
 * Where spreadsheets that separate by other signs would begin a cell of their own, quoted or not. Looks for the sign
 * first: a run of blanks that none follows is passed over once, however long it is.
 */
const INNER_FORMULA = new RegExp(`(?=[${SIGNS}])(?<=[;\\t\\r\\n]["${BLANKS}]*)`, 'gu')

/** RFC 4180, every cell in quotes, with an apostrophe before what would run as a formula; a number stays one. */
export function toCsv(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => toText(row[column])))]
  return `${BYTE_ORDER_MARK}${lines.map((cells) => cells.map(toCell).join(',')).join('\r\n')}\r\n`
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function toCell(text: string): string {
  const isNumber = /^-?\d+(?:\.\d+)?$/.test(text)
  return `"${(isNumber ? text : withoutFormula(text)).replaceAll('"', '""')}"`
}

function withoutFormula(text: string): string {
  const safe = text.replaceAll(INNER_FORMULA, "'")
  return FORMULA.test(text) ? `'${safe}` : safe
}
