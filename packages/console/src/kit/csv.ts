/* Comma-separated values that a spreadsheet reads as what they are. */

/** What a spreadsheet would take for a formula, also behind blanks. */
const FORMULA = /^[\s]*[=+\-@]|^[\t\r]/

/** RFC 4180, with a quote before what would run as a formula; a number stays one. */
export function toCsv(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => toText(row[column])))]
  return `${lines.map((cells) => cells.map(toCell).join(',')).join('\r\n')}\r\n`
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function toCell(text: string): string {
  const isNumber = /^-?\d+(?:\.\d+)?$/.test(text)
  const safe = FORMULA.test(text) && !isNumber ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
