const REPLACEMENT = '\uFFFD'

/**
 * The text with what PostgreSQL cannot store (NUL, lone surrogates) replaced by U+FFFD. Text from
 * devices and clients passes through here before it is written.
 */
export function toStorableText(text: string): string {
  return isStorableText(text) ? text : text.toWellFormed().replaceAll('\0', REPLACEMENT)
}

/** Whether a text can be stored as it is. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** A JSON value with every string and member name made storable. */
export function toStorableJson<Value>(value: Value): Value {
  return storable(value) as Value
}

function storable(value: unknown): unknown {
  if (typeof value === 'string') return toStorableText(value)
  if (Array.isArray(value)) return value.map(storable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [toStorableText(name), storable(member)]),
  )
}
