import { isStorableText, toStorableText } from '../../platform/storable-text.ts'
import type { OsqueryRow } from '../../schema/tables/column-types.ts'

/**
 * A row that an agent or another system sent, as text that can be stored; empty for what is no row. Agents
 * with numeric logging send numbers; everything else that is not text becomes its JSON.
 */
export function readOsqueryRow(value: unknown): OsqueryRow {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  if (isStorableRow(value)) return value
  const entries = Object.entries(value).map(([name, member]: [string, unknown]) => [
    toStorableText(name),
    toText(member),
  ])
  return Object.fromEntries(entries) as OsqueryRow
}

/** Whether a row is stored as it was sent, as nearly all are. */
function isStorableRow(value: object): value is OsqueryRow {
  for (const [name, member] of Object.entries(value)) {
    if (typeof member !== 'string' || !isStorableText(member) || !isStorableText(name)) return false
  }
  return true
}

function toText(member: unknown): string {
  if (typeof member === 'string') return toStorableText(member)
  if (member === null) return ''
  try {
    return toStorableText(JSON.stringify(member))
  } catch {
    // Nested deeper than the stack: nothing that a check reports.
    return ''
  }
}
