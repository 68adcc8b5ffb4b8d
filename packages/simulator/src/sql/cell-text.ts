import type { SQLOutputValue } from 'node:sqlite'

/** A value as osquery sends it: always a string, null as the empty one, doubles with a point. */
export function toCellText(value: SQLOutputValue): string {
  if (value === null) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number') {
    return Number.isInteger(value) ? value.toFixed(1) : String(Number(value.toPrecision(15)))
  }
  return Buffer.from(value).toString('utf8')
}
