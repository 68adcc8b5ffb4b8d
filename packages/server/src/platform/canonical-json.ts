/**
 * JSON with sorted member names and without white space: one text for all spellings of a value. What
 * JSON does not know (functions, `undefined` members) is left out.
 */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) => sortMembers(inner))
}

function sortMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(sorted)
}
