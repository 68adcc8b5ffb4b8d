/*
 * A row that a device reported, as its person may see it on a screen that others see too: without what osquery and the
 * check need for themselves, and with every secret masked.
 */
import { CHECK_STATUS_COLUMN } from '../../posture/checks/check-definition.ts'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'

/** Stands for a secret. */
export const MASK = '••••••'

/** Longer values are cut, in UTF-16 code units. */
const VALUE_LENGTH_MAX = 300
const COLUMNS_MAX = 30

/** Names of what is secret. What only counts or dates secrets is none. */
const SECRET_NAME =
  /(?:^|_)(?:password|passwd|passphrase|secret|token|api_?key|private_?key|credential|cookie|pin)(?:$|_(?!age|count|days|expires|length|policy|required|set|type|status|enabled|manager)[a-z])/i
/** What credentials look like: prefixes of well-known ones, keys, signed tokens, and long runs without words. */
const SECRET_VALUES = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk-|k2sk_)[\w-]{10,}/g,
  /\beyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?/g,
  /(?<=:\/\/[^\s/:@]{1,100}:)[^\s/@]{1,200}(?=@)/g,
]

/** The row with secrets masked; empty values and the verdict of the check are left out. */
export function maskRow(row: OsqueryRow): Readonly<Record<string, string>> {
  return maskColumns(
    Object.entries(row).filter(([name, value]) => name !== CHECK_STATUS_COLUMN && value !== ''),
  )
}

/** The row as it was answered, with secrets masked. */
export function maskWholeRow(row: OsqueryRow): Readonly<Record<string, string>> {
  return maskColumns(Object.entries(row))
}

function maskColumns(columns: readonly (readonly [string, string])[]): Record<string, string> {
  const shown = columns
    .slice(0, COLUMNS_MAX)
    .map(([name, value]) => [name, isSecret(name, value) ? MASK : maskText(value)] as const)
  return Object.fromEntries(shown)
}

function isSecret(name: string, value: string): boolean {
  return value !== '' && SECRET_NAME.test(name)
}

function maskText(value: string): string {
  const masked = SECRET_VALUES.reduce((text, pattern) => text.replace(pattern, MASK), value)
  return masked.length <= VALUE_LENGTH_MAX ? masked : `${masked.slice(0, VALUE_LENGTH_MAX - 1)}…`
}
